//go:build live

package live

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/bench/load"
)

// Goals of the probes. Another broker needs other ones; zero only measures.
var (
	startGoal    = flag.Duration("start-goal", 100*time.Millisecond, "exec to first answer, median")
	startTimes   = flag.Int("starts", 20, "how often the broker is started")
	pssGoal      = flag.Int("pss-goal", 60_000, "idle memory, in 1,024 bytes")
	sendfileGoal = flag.Float64("sendfile-goal", 0.95, "share of catch-up bytes by sendfile")
	writeGoal    = flag.Float64("write-goal", 1.05, "file writes for a produce request")
)

func TestFirstAnswerComesSoonAfterExec(t *testing.T) {
	times := make([]time.Duration, *startTimes)
	for i := range times {
		b := newBroker(t)
		require.NoError(t, b.Start())
		times[i] = b.Answered
		require.NoError(t, b.Stop())
	}
	slices.Sort(times)
	median := times[len(times)/2]
	t.Logf("start: median=%v min=%v max=%v n=%d", median, times[0], times[len(times)-1], len(times))
	if *startGoal > 0 {
		require.LessOrEqual(t, median, *startGoal)
	}
}

// TestIdleBrokerIsSmall measures after a few requests have been served.
func TestIdleBrokerIsSmall(t *testing.T) {
	b := startBroker(t)
	createTopic(t, b, "idle", 8, nil)
	_, err := load.Produce(load.ProduceOptions{
		Address: b.Address, Topic: "idle", Partitions: 8, Conns: 1, InFlight: 1, Acks: -1,
		Shape: load.BatchShape{RecordBytes: 100, BatchBytes: 1}, Bytes: 10_000,
	})
	require.NoError(t, err)
	before, err := cpuTicks(b.Pid())
	require.NoError(t, err)
	time.Sleep(5 * time.Second)
	after, err := cpuTicks(b.Pid())
	require.NoError(t, err)
	pss, err := pssKB(b.Pid())
	require.NoError(t, err)
	t.Logf("idle: pss_kb=%d cpu_ticks_in_5s=%d", pss, after-before)
	if *pssGoal > 0 {
		require.LessOrEqual(t, pss, *pssGoal)
	}
}

// TestSyscallsOfRequestsAreCounted follows the broker while one connection sends requests one at a
// time, and while another reads everything back.
func TestSyscallsOfRequestsAreCounted(t *testing.T) {
	needCommand(t, "strace")
	b := startBroker(t)
	createTopic(t, b, "traced", 1, nil)
	const requests = 1000
	shape := load.BatchShape{RecordBytes: 1000, BatchBytes: 64 << 10}
	batch, _ := load.EncodeBatch(shape)
	c := dial(t, b)
	// One request first: what a partition's first write opens is not counted.
	produceOne := func() error {
		resp, err := c.Do(load.ProduceRequest("traced", 0, -1, batch))
		if err != nil {
			return err
		}
		return load.ProduceError(resp.(*kmsg.ProduceResponse))
	}
	require.NoError(t, produceOne())
	produced, err := traceSyscalls(b.Pid(), filepath.Join(t.TempDir(), "produce"), func() error {
		for range requests {
			if err := produceOne(); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	t.Logf("produce: %s", perRequest(produced.calls, requests))

	var read *load.ConsumeResult
	consumed, err := traceSyscalls(b.Pid(), filepath.Join(t.TempDir(), "consume"), func() (err error) {
		read, err = load.Consume(load.ConsumeOptions{
			Address: b.Address, Topic: "traced", Partitions: 1, Conns: 1, From: []int64{0},
			Bytes: 1 << 40, PartitionBytes: 1 << 20,
		})
		return err
	})
	require.NoError(t, err)
	share := float64(consumed.sendfileBytes) / float64(read.Bytes)
	t.Logf("fetch: %s sendfile_share=%.3f", perRequest(consumed.calls, int(read.Requests)), share)

	require.EqualValues(t, (requests+1)*len(batch), read.Bytes)
	if *writeGoal > 0 {
		writes := produced.calls["pwrite64"] + produced.calls["pwritev"] + produced.calls["pwritev2"]
		require.LessOrEqual(t, float64(writes)/requests, *writeGoal)
	}
	if *sendfileGoal > 0 {
		require.GreaterOrEqual(t, share, *sendfileGoal)
	}
}

// perRequest prints calls per request, the most frequent first, down to one in a hundred.
func perRequest(calls map[string]int, requests int) string {
	names := slices.SortedFunc(maps.Keys(calls), func(a, b string) int {
		if d := calls[b] - calls[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var out []string
	for _, name := range names {
		if rate := float64(calls[name]) / float64(requests); rate >= 0.01 {
			out = append(out, fmt.Sprintf("%s=%.2f", name, rate))
		}
	}
	return strings.Join(out, " ")
}
