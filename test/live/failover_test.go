//go:build live

package live

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var onlyFault = flag.String("fault", "", "the only fault of the failover test, by its name; empty draws from all")

const (
	failoverTopic      = "replicated"
	probeTopic         = "probed"
	failoverPartitions = 6
	// settleTimeout is how long a cluster without faults may take until all replicas are in sync. It
	// only ends a run that hangs.
	settleTimeout = 2 * time.Minute
)

// TestReplicatedRecordsSurviveFaultsOfLeaders appends to a topic of three replicas with acks=all while
// leaders are killed, paused, cut off or stopped, in rounds. After each round everything that was
// acknowledged is read back: at its offset, unchanged, in order, once.
func TestReplicatedRecordsSurviveFaultsOfLeaders(t *testing.T) {
	seed := *quorumSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	r := newFailoverRun(t, seed)
	for round := range *rounds {
		r.round(t, fmt.Sprintf("round %d of seed %d", round, seed))
	}
	r.readAgain(t)
	require.NoError(t, r.cluster.Stop())
	var acked int
	for _, a := range r.appenders {
		acked += len(a.acked)
	}
	for _, f := range failovers {
		if gaps := r.gaps[f.name]; len(gaps) > 0 {
			slices.Sort(gaps)
			t.Logf("failover: gap %s: rounds=%d median=%v max=%v", f.name, len(gaps),
				gaps[len(gaps)/2].Round(time.Millisecond), gaps[len(gaps)-1].Round(time.Millisecond))
		}
	}
	t.Logf("failover: rounds=%d seed=%d acked=%d", *rounds, seed, acked)
}

// failoverRun is a cluster under load and faults of leaders.
type failoverRun struct {
	cluster   *Cluster
	clients   []*kgo.Client // one for each node
	random    *rand.Rand
	appenders []*appender
	readers   []*reader
	probers   []*prober
	gaps      map[string][]time.Duration // of probers by fault, the longest of each round
}

func newFailoverRun(t *testing.T, seed uint64) *failoverRun {
	r := &failoverRun{
		cluster: newCluster(t, clusterSize), random: rand.New(rand.NewPCG(seed, 7)),
		gaps: map[string][]time.Duration{},
	}
	require.NoError(t, r.cluster.Launch())
	r.clients = r.cluster.clients(t)
	ctx, cancel := context.WithTimeout(t.Context(), settleTimeout)
	defer cancel()
	for _, topic := range []string{failoverTopic, probeTopic} {
		for {
			_, err := createReplicated(ctx, r.clients[0].SeedBrokers()[0], topic, failoverPartitions, clusterSize)
			if err == nil || strings.Contains(err.Error(), "TOPIC_ALREADY_EXISTS") {
				break
			}
			require.NoError(t, ctx.Err(), "topic %s can not be created: %v", topic, err)
			time.Sleep(100 * time.Millisecond)
		}
	}
	r.settle(t)
	for p := range int32(failoverPartitions) {
		a, err := newAppender(r.cluster, failoverTopic, p)
		require.NoError(t, err)
		t.Cleanup(a.client.Close)
		r.appenders = append(r.appenders, a)
		r.probers = append(r.probers, &prober{cluster: r.cluster, topic: probeTopic, partition: int(p)})
	}
	r.readers = r.newReaders(t)
	return r
}

func (r *failoverRun) newReaders(t *testing.T) (readers []*reader) {
	for _, a := range r.appenders {
		reader, err := newReader(r.cluster, a)
		require.NoError(t, err)
		t.Cleanup(reader.client.Close)
		readers = append(readers, reader)
	}
	return readers
}

// round lets a fault strike a leader under load, mends it, and reads back what was acknowledged.
func (r *failoverRun) round(t *testing.T, name string) {
	victim := r.settle(t)[r.random.IntN(failoverPartitions)].leader
	fault := failovers[r.random.IntN(len(failovers))]
	for fault.name != *onlyFault && *onlyFault != "" {
		fault = failovers[r.random.IntN(len(failovers))]
	}
	what := fmt.Sprintf("%s: %s, node %d", name, fault.name, victim)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make([]error, len(r.appenders))
	var running sync.WaitGroup
	for i, a := range r.appenders {
		running.Go(func() { ended[i] = a.run(ctx, settleTimeout) })
	}
	for _, p := range r.probers {
		running.Go(func() { p.run(ctx) })
	}
	time.Sleep(300*time.Millisecond + time.Duration(r.random.Int64N(int64(500*time.Millisecond))))
	r.takeGap()
	require.NoError(t, fault.strike(r.cluster, victim), what)
	r.awaitAcks(t, what)
	time.Sleep(time.Duration(r.random.Int64N(int64(time.Second))))
	require.NoError(t, r.cluster.mend(), what)
	time.Sleep(500 * time.Millisecond)
	stop()
	running.Wait()
	for _, err := range ended {
		require.NoError(t, err, what)
	}
	gap, client := r.takeGap()
	r.gaps[fault.name] = append(r.gaps[fault.name], gap)
	for _, reader := range r.readers {
		ctx, cancel := context.WithTimeout(t.Context(), settleTimeout)
		err := reader.verify(ctx)
		cancel()
		require.NoError(t, err, what)
	}
	t.Logf("%s: no acknowledgement for %v, of a client for %v", what, gap.Round(time.Millisecond),
		client.Round(time.Millisecond))
}

// awaitAcks waits until records are acknowledged in every partition that are sent from now on: the two
// nodes that are left are enough.
func (r *failoverRun) awaitAcks(t *testing.T, what string) {
	begin := time.Now()
	for _, a := range r.appenders {
		for now, acked := a.sent(); acked <= now; _, acked = a.sent() {
			require.Less(t, time.Since(begin), settleTimeout,
				"%s: partition %d is not appended to any more", what, a.partition)
			time.Sleep(time.Millisecond)
		}
	}
}

// takeGap returns the longest time without an acknowledgement in any partition, to whoever asks every
// node and to a client.
func (r *failoverRun) takeGap() (longest, client time.Duration) {
	for i, a := range r.appenders {
		longest, client = max(longest, r.probers[i].takeGap()), max(client, a.takeGap())
	}
	return longest, client
}

// readAgain reads all partitions from their beginnings.
func (r *failoverRun) readAgain(t *testing.T) {
	for _, reader := range r.newReaders(t) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*settleTimeout)
		err := reader.verify(ctx)
		cancel()
		require.NoError(t, err)
	}
}

// ledPartition is what a node tells of a partition.
type ledPartition struct{ leader, inSync int }

// settle waits until every node tells that all replicas of all partitions are in sync.
func (r *failoverRun) settle(t *testing.T) []ledPartition {
	t.Helper()
	begin := time.Now()
	for {
		var all []ledPartition
		settled := true
		for _, client := range r.clients {
			ctx, cancel := context.WithTimeout(t.Context(), answerTimeout)
			led, err := partitionsOf(ctx, client.SeedBrokers()[0], failoverTopic)
			cancel()
			settled = settled && err == nil && len(led) == failoverPartitions &&
				!slices.ContainsFunc(led, func(p ledPartition) bool { return p.leader < 1 || p.inSync < clusterSize })
			all = led
		}
		if settled {
			return all
		}
		require.Less(t, time.Since(begin), settleTimeout, "replicas do not come into sync: %+v", all)
		time.Sleep(20 * time.Millisecond)
	}
}

// partitionsOf asks one node for a topic's partitions.
func partitionsOf(ctx context.Context, broker *kgo.Broker, topic string) ([]ledPartition, error) {
	req := kmsg.NewPtrMetadataRequest()
	name := kmsg.NewMetadataRequestTopic()
	name.Topic = &topic
	req.Topics = []kmsg.MetadataRequestTopic{name}
	resp, err := req.RequestWith(ctx, once{broker})
	if err != nil {
		return nil, err
	}
	var led []ledPartition
	for i := range resp.Topics {
		partitions := resp.Topics[i].Partitions
		slices.SortFunc(partitions, func(a, b kmsg.MetadataResponseTopicPartition) int {
			return int(a.Partition - b.Partition)
		})
		for _, p := range partitions {
			led = append(led, ledPartition{int(p.Leader), len(p.ISR)})
		}
	}
	return led, nil
}
