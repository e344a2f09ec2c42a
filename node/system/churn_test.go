package system

import (
	"encoding/binary"
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

// TestTenThousandConnectionsAreForgotten: nothing stays of a connection that has ended.
func TestTenThousandConnectionsAreForgotten(t *testing.T) {
	const total, atOnce = 10_000, 50
	network := netio.Default()
	network.Stall = 100 * time.Millisecond // for what only a deadline notices
	h := newHarnessOn(t, network)
	before := runtime.NumGoroutine()
	addr := h.listener.Addr().String()
	for first := range total / atOnce {
		var wait sync.WaitGroup
		for i := range atOnce {
			wait.Go(func() { visit(t, addr, first+i) })
		}
		wait.Wait()
	}
	opened, closed := 0, 0
	for closed < total {
		switch h.Next(t).Kind {
		case env.EventConnOpened:
			opened++
		case env.EventConnClosed:
			closed++
		}
	}
	require.Equal(t, total, opened)

	require.NoError(t, h.listener.Close())
	h.listener.CloseConns()
	h.Perform(&env.Effects{Wake: 1}) // a turn after the one that was told the last end
	h.Next(t)
	require.Zero(t, h.listener.Conns())
	require.Zero(t, h.loop.Conns())
	require.Zero(t, h.memory.Used())
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
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
