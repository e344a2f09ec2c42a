package system

import (
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/env/envtest"
	"stet/diskio"
	"stet/netio"
	"stet/node"
)

func TestProductionKeepsTheLawsOfAWorld(t *testing.T) {
	envtest.Run(t, func(t *testing.T) envtest.Harness { return newHarness(t) })
}

// harness is production around a scripted loop.
type harness struct {
	disk     *diskio.Disk
	host     *host
	loop     *node.Loop
	script   *envtest.Script
	listener *netio.Listener
	told     chan struct{}
}

func newHarness(t *testing.T) *harness {
	disk, err := diskio.Open([]string{t.TempDir()})
	require.NoError(t, err)
	h := &harness{disk: disk, script: &envtest.Script{}, told: make(chan struct{}, 1)}
	h.script.Told = func() {
		select {
		case h.told <- struct{}{}:
		default:
		}
	}
	h.host = newHost(disk, slog.New(slog.DiscardHandler))
	h.loop = node.NewLoop(node.BrokerLoop, h.script, h.host, nil)
	h.listener, err = netio.Listen("127.0.0.1:0")
	require.NoError(t, err)
	go h.listener.Serve(node.NewAcceptor(h.loop, node.NewMemory(1<<20), "PLAINTEXT", 1<<20))
	t.Cleanup(func() {
		h.listener.Close()
		h.listener.CloseConns()
		h.host.close()
		disk.Close()
	})
	return h
}

func (h *harness) Perform(e *env.Effects) {
	h.script.Ask(e)
	w := h.host.Worker(nil)
	defer w.Finish()
	h.loop.Tick(w)
}

func (h *harness) Next(t *testing.T) env.Event {
	t.Helper()
	patience := time.After(envtest.Patience)
	for {
		if ev, ok := h.script.Take(); ok {
			return ev
		}
		select {
		case <-h.told:
		case <-patience:
			t.Fatal("no event came")
		}
	}
}

func (h *harness) Disk() env.Disk { return h.disk }

func (h *harness) Dial(t *testing.T) envtest.Peer {
	c, err := net.Dial("tcp", h.listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return &peer{c}
}

func (h *harness) Listen(t *testing.T) (addr string, accept func(*testing.T) envtest.Peer) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().String(), func(t *testing.T) envtest.Peer {
		c, err := l.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return &peer{c}
	}
}

func (h *harness) Nobody(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

type peer struct{ net.Conn }

func (p *peer) Send(t *testing.T, frame []byte) {
	t.Helper()
	_, err := p.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	require.NoError(t, err)
}

func (p *peer) Receive(t *testing.T) ([]byte, bool) {
	t.Helper()
	p.SetReadDeadline(time.Now().Add(envtest.Patience))
	var size [4]byte
	if _, err := io.ReadFull(p, size[:]); err != nil {
		return nil, false
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(p, frame)
	require.NoError(t, err)
	return frame, true
}

func (p *peer) Close() { p.Conn.Close() }
