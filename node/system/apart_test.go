package system_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
	"stet/node"
	"stet/node/recording"
	"stet/node/system"
)

// controllerAlone and brokerAlone are options of a cluster of two nodes, 1 and 2.
func controllerAlone(t testing.TB) system.Options {
	o := options(t)
	o.Node.Roles = node.Roles{Controller: true}
	o.ControllerListen = "127.0.0.1:0"
	return o
}

func brokerAlone(t testing.TB, controller string) system.Options {
	o := options(t)
	o.Node.Roles = node.Roles{Broker: true}
	o.Node.Broker.NodeID = 2
	o.Node.Broker.Controllers = []kafka.ControllerAddress{{Node: 1, Addr: controller}}
	return o
}

// begin starts a node and waits until it is ready.
func begin(t testing.TB, o system.Options) (system.Started, func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan system.Started, 1), make(chan error, 1)
	go func() { ended <- system.Serve(ctx, o, func(s system.Started) { started <- s }) }()
	t.Cleanup(cancel)
	select {
	case s := <-started:
		return s, func() error {
			cancel()
			return <-ended
		}
	case err := <-ended:
		t.Fatalf("the node ended: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("the node does not start")
	}
	return system.Started{}, nil
}

func TestABrokerServesWithAControllerInAnotherNode(t *testing.T) {
	c, stopController := begin(t, controllerAlone(t))
	require.Empty(t, c.Addr)
	b, stopBroker := begin(t, brokerAlone(t, c.ControllerAddr))
	require.Empty(t, b.ControllerAddr)
	require.NotEmpty(t, b.ClusterID)
	var wait sync.WaitGroup
	for _, topic := range []string{"a", "b", "a"} {
		wait.Go(func() { roundTrip(t, b.Addr, topic, 50) })
	}
	wait.Wait()
	require.NoError(t, stopBroker())
	require.NoError(t, stopController())
}

func TestBothNodesOfAClusterReplay(t *testing.T) {
	var files [2]bytes.Buffer
	var recorders [2]*recording.Recorder
	record := func(i int) system.RecordFunc {
		return func(seed [32]byte, c *node.Config, id env.Identity) (node.Tap, error) {
			var err error
			recorders[i], err = recording.NewRecorder(&files[i], seed, c, id)
			return recorders[i], err
		}
	}
	o := controllerAlone(t)
	o.Record = record(0)
	c, stopController := begin(t, o)
	o = brokerAlone(t, c.ControllerAddr)
	o.Record = record(1)
	b, stopBroker := begin(t, o)
	roundTrip(t, b.Addr, "t", 20)
	require.NoError(t, stopBroker())
	require.NoError(t, stopController())
	for i := range files {
		require.NoError(t, recorders[i].Close())
		res, err := recording.Replay(bytes.NewReader(files[i].Bytes()), system.Streams)
		require.NoError(t, err)
		require.Empty(t, res.Divergent)
		require.Greater(t, res.Turns, int64(20))
	}
}

func TestAControllerThatComesBackIsFoundAgain(t *testing.T) {
	o := controllerAlone(t)
	c, stopController := begin(t, o)
	o.ControllerListen = c.ControllerAddr
	b, stopBroker := begin(t, brokerAlone(t, c.ControllerAddr))
	require.NoError(t, stopController())
	_, stopController = begin(t, o)
	roundTrip(t, b.Addr, "t", 10) // its topic needs a controller
	require.NoError(t, stopBroker())
	require.NoError(t, stopController())
}

func TestABrokerWaitsForAControllerThatListensLater(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := free.Addr().String()
	free.Close()
	o := controllerAlone(t)
	o.ControllerListen = addr
	later := make(chan func() error, 1)
	go func() {
		time.Sleep(300 * time.Millisecond)
		_, stop := begin(t, o)
		later <- stop
	}()
	_, stopBroker := begin(t, brokerAlone(t, addr))
	require.NoError(t, stopBroker())
	require.NoError(t, (<-later)())
}

func TestTheControllersListenerTellsItsVersions(t *testing.T) {
	c, stop := begin(t, controllerAlone(t))
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ControllerAddr))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ask := kmsg.NewPtrApiVersionsRequest()
	ask.ClientSoftwareName, ask.ClientSoftwareVersion = "test", "1"
	res, err := client.SeedBrokers()[0].Request(ctx, ask)
	require.NoError(t, err)
	keys := map[int16]bool{}
	for _, k := range res.(*kmsg.ApiVersionsResponse).ApiKeys {
		keys[k.ApiKey] = true
	}
	for _, key := range []kmsg.Key{kmsg.ApiVersions, kmsg.BrokerRegistration, kmsg.CreateTopics} {
		require.True(t, keys[key.Int16()], key.Name())
	}
	require.NoError(t, stop())
}

// TestAPeerThatTalksNonsenseDoesNotStopABroker has a broker dial what is no controller.
func TestAPeerThatTalksNonsenseDoesNotStopABroker(t *testing.T) {
	fake, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer fake.Close()
	accepted := make(chan struct{}, 100)
	answers := [][]byte{
		{0, 0, 0, 4, 0, 0, 0, 9},                // to a question that was not asked
		{0, 0, 0, 1, 7},                         // too short for an answer
		{0xff, 0xff, 0xff, 0xff},                // of a size that can not be
		{0, 0, 0, 9, 0, 0, 0, 1, 0, 1, 2, 3, 4}, // of a body that does not decode
		{0x48, 0x54, 0x54, 0x50, 0x2f, 0x31},    // HTTP/1
	}
	go func() {
		for i := 0; ; i++ {
			conn, err := fake.Accept()
			if err != nil {
				return
			}
			accepted <- struct{}{}
			go func() {
				io.ReadFull(conn, make([]byte, 14))
				conn.Write(answers[i%len(answers)])
				io.Copy(io.Discard, conn)
				conn.Close()
			}()
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- system.Serve(ctx, brokerAlone(t, fake.Addr().String()), func(system.Started) {}) }()
	for range 2 * len(answers) {
		select {
		case <-accepted:
		case err := <-ended:
			t.Fatalf("the node ended: %v", err)
		case <-time.After(20 * time.Second):
			t.Fatal("the broker does not dial again")
		}
	}
	cancel()
	require.NoError(t, <-ended)
}
