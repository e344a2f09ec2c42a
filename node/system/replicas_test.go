package system_test

import (
	"bytes"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/kafka"
	"stet/node"
	"stet/node/recording"
	"stet/node/system"
)

// recorded is a node of a cluster whose broker is recorded.
type recorded struct {
	addr     string
	stop     func() error
	file     bytes.Buffer
	recorder *recording.Recorder
}

// serveThree starts a cluster of three nodes with both roles; topics have three replicas by default.
func serveThree(t *testing.T) []*recorded {
	var list []kafka.ControllerAddress
	for id := kafka.BrokerID(1); id <= 3; id++ {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		list = append(list, kafka.ControllerAddress{Node: id, Addr: free.Addr().String()})
		require.NoError(t, free.Close())
	}
	nodes := make([]*recorded, len(list))
	var wait sync.WaitGroup
	for i, self := range list {
		n := &recorded{}
		nodes[i] = n
		o := options(t)
		o.Node.Broker.NodeID, o.Node.Controller.NodeID = self.Node, self.Node
		o.Node.Broker.DefaultReplicationFactor = 3
		o.Node.Controller.Controllers, o.Node.Controller.Advertise = list, self.Addr
		o.Node.Broker.Controllers = append([]kafka.ControllerAddress(nil), list...)
		o.Node.Broker.Controllers[i].Addr = "" // in the same process
		o.ControllerListen = self.Addr
		o.Record = func(seed [32]byte, c *node.Config, id env.Identity) (node.Tap, error) {
			var err error
			n.recorder, err = recording.NewRecorder(&n.file, seed, c, id)
			return n.recorder, err
		}
		wait.Go(func() { n.addr, n.stop = serve(t, o) })
	}
	wait.Wait()
	return nodes
}

// What leaders give and followers take is recorded without the records, and comes out the same.
func TestRecordedReplicasReplay(t *testing.T) {
	nodes := serveThree(t)
	var wait sync.WaitGroup
	for i, n := range nodes {
		wait.Go(func() { roundTrip(t, n.addr, fmt.Sprintf("topic-%d", i), 200) })
	}
	wait.Wait()
	for _, n := range nodes {
		wait.Go(func() { require.NoError(t, n.stop()) })
	}
	wait.Wait()
	for i, n := range nodes {
		require.NoError(t, n.recorder.Close())
		res, err := recording.Replay(bytes.NewReader(n.file.Bytes()), system.Streams)
		require.NoError(t, err)
		require.Empty(t, res.Divergent, "node %d", i+1)
		t.Logf("node %d: turns=%d events=%d bytes=%d", i+1, res.Turns, res.Events, n.file.Len())
	}
}
