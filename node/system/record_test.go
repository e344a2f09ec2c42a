package system_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/core/kafka"
	"stet/node"
	"stet/node/recording"
	"stet/node/system"
)

func TestARecordedRunUnderEightConnectionsReplays(t *testing.T) {
	var file bytes.Buffer
	var recorder *recording.Recorder
	o := options(t)
	o.Record = func(seed [32]byte, c *node.Config, id env.Identity) (node.Tap, error) {
		var err error
		recorder, err = recording.NewRecorder(&file, seed, c, id)
		return recorder, err
	}
	addr, stop := serve(t, o)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() { roundTrip(t, addr, fmt.Sprintf("topic-%d", i%3), 200) })
	}
	wait.Wait()
	require.NoError(t, stop())
	require.NoError(t, recorder.Close())

	res, err := recording.Replay(bytes.NewReader(file.Bytes()), system.Streams)
	require.NoError(t, err)
	require.Empty(t, res.Divergent)
	require.Greater(t, res.Turns, int64(100))
	t.Logf("replayed turns=%d events=%d bytes=%d", res.Turns, res.Events, file.Len())
}

// options is a node on a free port with an empty directory.
func options(t testing.TB) system.Options {
	config := node.Config{
		Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig(),
		RequestBudgetBytes: 64 << 20, MaxFrameBytes: 100 << 20,
	}
	config.Broker.NodeID, config.Controller.NodeID = 1, 1
	return system.Options{
		Node: config, Directories: []string{t.TempDir()},
		Clients: []kafka.NamedListener{{Name: "PLAINTEXT", Bind: "127.0.0.1:0"}},
		Logger:  slog.New(slog.DiscardHandler),
	}
}

// serve starts a node and returns its address, and what stops it.
func serve(t testing.TB, o system.Options) (addr string, stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan system.Started, 1)
	ended := make(chan error, 1)
	go func() { ended <- system.Serve(ctx, o, func(s system.Started) { started <- s }) }()
	select {
	case s := <-started:
		addr = s.Addr
	case err := <-ended:
		t.Fatalf("the node ended: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("the node does not start")
	}
	t.Cleanup(cancel)
	return addr, func() error {
		cancel()
		return <-ended
	}
}

// roundTrip produces records one after the other and reads them back.
func roundTrip(t testing.TB, addr, topic string, n int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.AllowAutoTopicCreation(),
		kgo.UnknownTopicRetries(-1), // a busy machine takes its time to create a topic
		kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.ProducerLinger(0))
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	for i := range n {
		record := &kgo.Record{Topic: topic, Value: fmt.Appendf(nil, "record %d", i)}
		if err := c.ProduceSync(ctx, record).FirstErr(); err != nil {
			t.Error(err)
			return
		}
	}
	for read := 0; read < n; {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Error(err)
			return
		}
		read += fetches.NumRecords()
	}
}
