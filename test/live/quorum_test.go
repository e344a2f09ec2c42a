//go:build live

package live

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var (
	nodeCommand = flag.String("node",
		"bin/stet serve --data-dir {dir} --node-id {node} --listen {listen} --controllers {controllers}",
		"command of one node of a cluster, with {dir}, {node}, {host}, {listen} and {controllers}")
	quorumSeed = flag.Uint64("quorum-seed", 0, "of the faults and the load; 0 draws one")
)

const (
	clusterSize = 3
	creators    = 4
	// recoverTimeout is how long an undisturbed cluster may take until it acknowledges a creation
	// and every node tells of it. Measured times are printed; this only ends a run that hangs.
	recoverTimeout = time.Minute
)

// newCluster prepares a cluster, or skips the test where its network is not permitted.
func newCluster(t *testing.T, nodes int) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp(*dataRoot, "live")
	require.NoError(t, err)
	c, err := NewCluster(repository, *nodeCommand, dir, nodes)
	if err != nil {
		require.NoError(t, os.RemoveAll(dir))
		t.Skipf("SKIPPED: network namespaces: %v", err)
	}
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		if t.Failed() {
			t.Logf("data and logs of the nodes are in %s", dir)
			return
		}
		require.NoError(t, os.RemoveAll(dir))
	})
	return c
}

// client returns a client that knows one node only.
func (c *Cluster) client(t *testing.T, node int) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.Nodes[node-1].Address), kgo.Dialer(c.DialContext))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func (c *Cluster) clients(t *testing.T) []*kgo.Client {
	t.Helper()
	var clients []*kgo.Client
	for i := range c.Nodes {
		clients = append(clients, c.client(t, i+1))
	}
	return clients
}

// TestClusterTopicsSurviveFaultsOfControllers lets clients create and delete topics while
// controllers are killed, paused and cut off from each other, in rounds. After each round every
// acknowledged creation has to be there on every node, once, with its id, every acknowledged deletion
// has to have lasted, and the nodes have to agree.
func TestClusterTopicsSurviveFaultsOfControllers(t *testing.T) {
	seed := *quorumSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	r := newQuorumRun(t, seed)
	formed, _ := requireRecovered(t, r.clients, r.marker, r.ledgers())
	var slowest time.Duration
	for round := range *rounds {
		what := r.round(t, fmt.Sprintf("round %d of seed %d", round, seed))
		acked, complete := requireRecovered(t, r.clients, r.marker, r.ledgers())
		t.Logf("%s: after the load a creation is acknowledged within %v, told of by all brokers within %v",
			what, acked.Round(time.Millisecond), complete.Round(time.Millisecond))
		slowest = max(slowest, acked)
	}
	require.NoError(t, r.cluster.Stop())
	for _, b := range r.cluster.Nodes {
		dumpMetadata(t, b)
	}
	var created, deleted, unanswered int
	for _, l := range r.ledgers() {
		created, deleted, unanswered = created+l.created, deleted+l.deleted, unanswered+l.unanswered
	}
	t.Logf("quorum: faults=%v errors=%v", r.faults, r.errors())
	t.Logf("quorum: rounds=%d seed=%d created=%d deleted=%d unanswered=%d formed=%v slowest_ack=%v",
		*rounds, seed, created, deleted, unanswered,
		formed.Round(time.Millisecond), slowest.Round(time.Millisecond))
	require.NotZero(t, unanswered, "no request was under way at any fault")
	require.NotZero(t, deleted)
}

// quorumRun is a cluster under load and faults.
type quorumRun struct {
	cluster  *Cluster
	clients  []*kgo.Client // one for each node
	random   *rand.Rand
	creators []*creator
	marker   *creator       // creates what tells that a node is up to date
	faults   map[string]int // how often each has struck
}

// newQuorumRun starts a cluster.
func newQuorumRun(t *testing.T, seed uint64) *quorumRun {
	r := &quorumRun{
		cluster: newCluster(t, clusterSize), random: rand.New(rand.NewPCG(seed, 5)),
		faults: map[string]int{},
	}
	require.NoError(t, r.cluster.Launch())
	r.clients = r.cluster.clients(t)
	for i := range creators {
		r.creators = append(r.creators, &creator{
			number: i, random: rand.New(rand.NewPCG(seed, uint64(10+i))),
			clients: r.clients, ledger: newLedger(),
		})
	}
	r.marker = &creator{number: creators, clients: r.clients, ledger: newLedger()}
	return r
}

// round lets a fault strike under load, mends it, and ends the load. It returns what it was.
func (r *quorumRun) round(t *testing.T, name string) string {
	fault, victims := draw(r.random, clusterSize, leaderOf(t, r.clients))
	what := fmt.Sprintf("%s: %s, nodes %v", name, fault.name, victims)
	r.faults[fault.name]++
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make([]error, len(r.creators))
	var running sync.WaitGroup
	for i, c := range r.creators {
		running.Go(func() { ended[i] = c.run(ctx) })
	}
	time.Sleep(time.Duration(r.random.Int64N(int64(500 * time.Millisecond))))
	require.NoError(t, fault.strike(r.cluster, victims), what)
	time.Sleep(time.Second + time.Duration(r.random.Int64N(int64(2*time.Second))))
	require.NoError(t, r.cluster.mend(), what)
	time.Sleep(500 * time.Millisecond)
	stop()
	running.Wait()
	for _, err := range ended {
		require.NoError(t, err, what)
	}
	return what
}

func (r *quorumRun) ledgers() []*ledger {
	all := []*ledger{r.marker.ledger}
	for _, c := range r.creators {
		all = append(all, c.ledger)
	}
	return all
}

// errors counts what creators were answered instead of acknowledgements.
func (r *quorumRun) errors() map[string]int {
	all := map[string]int{}
	for _, c := range r.creators {
		for text, n := range c.errors {
			all[text] += n
		}
	}
	return all
}

// requireRecovered creates a topic, waits until every node tells of it and of all brokers, and
// judges what the nodes hold. Metadata has one order, so a node that tells of the topic has all that
// was acknowledged before. It returns how long both took.
func requireRecovered(
	t *testing.T, clients []*kgo.Client, marker *creator, ledgers []*ledger,
) (acked, complete time.Duration) {
	t.Helper()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), recoverTimeout)
	defer cancel()
	last := ""
	for last == "" {
		require.NoError(t, ctx.Err(), "no creation is acknowledged")
		name := fmt.Sprintf("marker-%d", marker.next)
		marker.next++
		client := clients[marker.next%len(clients)]
		limited, done := context.WithTimeout(ctx, answerTimeout)
		id, err := createReplicated(limited, client.SeedBrokers()[0], name, 1, 1)
		done()
		require.NoError(t, marker.ledger.creation(name, 1, err == nil, id))
		if err == nil {
			last = name
		} else {
			time.Sleep(20 * time.Millisecond)
		}
	}
	acked = time.Since(begin)
	held := make([][]heldTopic, len(clients))
	for i, client := range clients {
		held[i] = awaitTopic(t, ctx, client, i+1, last)
	}
	complete = time.Since(begin)
	for err := agree(held); err != nil; err = agree(held) {
		require.NoError(t, ctx.Err(), "%v", err)
		time.Sleep(100 * time.Millisecond)
		for i, client := range clients {
			held[i] = awaitTopic(t, ctx, client, i+1, last)
		}
	}
	require.NoError(t, judge(ledgers, held[0]))
	return acked, complete
}

// awaitTopic returns the topics of a node once it tells of the one named, and of all brokers.
func awaitTopic(
	t *testing.T, ctx context.Context, client *kgo.Client, node int, name string,
) []heldTopic {
	t.Helper()
	for {
		topics, brokers, err := topicsOf(ctx, client.SeedBrokers()[0])
		there := slices.ContainsFunc(topics, func(held heldTopic) bool { return held.name == name })
		if err == nil && there && len(brokers) == clusterSize {
			return topics
		}
		require.NoError(t, ctx.Err(), "node %d: topic %s there: %v, brokers %v, last answer: %v",
			node, name, there, brokers, err)
		time.Sleep(5 * time.Millisecond)
	}
}

// leaderOf asks the nodes for the active controller; 0 if none knows.
func leaderOf(t *testing.T, clients []*kgo.Client) int {
	t.Helper()
	for _, client := range clients {
		ctx, cancel := context.WithTimeout(t.Context(), answerTimeout)
		req := kmsg.NewPtrDescribeQuorumRequest()
		topic := kmsg.NewDescribeQuorumRequestTopic()
		topic.Topic = "__cluster_metadata"
		topic.Partitions = []kmsg.DescribeQuorumRequestTopicPartition{{}}
		req.Topics = append(req.Topics, topic)
		resp, err := req.RequestWith(ctx, once{client.SeedBrokers()[0]})
		cancel()
		if err == nil && len(resp.Topics) == 1 && len(resp.Topics[0].Partitions) == 1 {
			return int(resp.Topics[0].Partitions[0].LeaderID)
		}
	}
	return 0
}
