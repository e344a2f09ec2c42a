package system

import (
	"encoding/binary"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/netio"
	"stet/node"
)

// metadataFrame is a Metadata v0 of all topics, with its length. Nobody answers it.
func metadataFrame() []byte {
	b := []byte{0, 3, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0, 0, 0, 0}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// visit opens a connection and ends it: silent, with a request that is not answered, in the middle
// of a frame, by a reset.
func visit(t *testing.T, addr string, i int) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	frame := metadataFrame()
	switch i % 4 {
	case 1:
		c.Write(frame)
	case 2:
		c.Write(frame[:9])
	case 3:
		c.Write(frame)
		c.(*net.TCPConn).SetLinger(0)
	}
}

// census counts connections. Its last is told when as many have ended as were expected.
type census struct {
	opened, closed, expected int
	last                     chan struct{}
}

func (c *census) Turn(_ env.Now, in []env.Event, _ *env.Effects) {
	for i := range in {
		switch in[i].Kind {
		case env.EventConnOpened:
			c.opened++
		case env.EventConnClosed:
			if c.closed++; c.closed == c.expected {
				close(c.last)
			}
		}
	}
}

// TestTenThousandConnectionsAreForgotten: nothing stays of a connection that has ended.
func TestTenThousandConnectionsAreForgotten(t *testing.T) {
	const total, atOnce = 10_000, 50
	before := runtime.NumGoroutine()
	c := &census{expected: total, last: make(chan struct{})}
	h := newHost(nil, slog.New(slog.DiscardHandler))
	loop := node.NewLoop(node.BrokerLoop, c, h, nil)
	memory := node.NewMemory(1 << 20)
	network := netio.Default()
	network.Stall = 100 * time.Millisecond // for what only a deadline notices
	listener, err := network.Listen("127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		listener.Serve(node.NewAcceptor(loop, memory, "PLAINTEXT", 1<<20))
		close(served)
	}()
	for first := range total / atOnce {
		var wait sync.WaitGroup
		for i := range atOnce {
			wait.Go(func() { visit(t, listener.Addr().String(), first+i) })
		}
		wait.Wait()
	}
	<-c.last
	require.NoError(t, listener.Close())
	<-served
	listener.CloseConns()
	for runtime.NumGoroutine() > before { // a goroutine that stays runs into the test's timeout
		runtime.Gosched()
	}
	require.Equal(t, total, c.opened)
	require.Zero(t, listener.Conns())
	require.Zero(t, loop.Conns())
	require.Zero(t, memory.Used())
}

func TestABurstOfWorkersIsNotKept(t *testing.T) {
	h := newHost(nil, nil)
	var burst []node.Worker
	for range 3 * keptWorkers {
		burst = append(burst, h.Worker(nil))
	}
	for _, w := range burst {
		w.Finish()
	}
	require.Len(t, h.workers.free, keptWorkers)
}
