//go:build live

package live

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/bench/load"
)

var (
	againstNode = flag.String("against-node", "", "command of one node of the other cluster, as -node")
	warmGB      = flag.Float64("warm", 0.3, "gigabytes written to a cluster before anything counts")
	replicateGB = flag.Float64("replicate-gb", 0.5, "gigabytes measured, before replication")
)

// replicated is what three nodes took in one run.
type replicated struct {
	cpu      float64 // seconds a gigabyte, of all nodes together
	mbPerSec float64
	oneConn  float64 // requests a second of one connection with five in flight
}

// TestThroughputOfThreeReplicas measures appends with acks=all to three replicas, two of which have to
// be in sync: all nodes' CPU for a gigabyte, and what one connection with five requests in flight gets.
// With another cluster it runs A B B A and prints the ratios.
func TestThroughputOfThreeReplicas(t *testing.T) {
	order := []string{*nodeCommand}
	if *againstNode != "" {
		order = []string{*nodeCommand, *againstNode, *againstNode, *nodeCommand}
	}
	runs := map[string][]replicated{}
	for _, command := range order {
		r := measureReplicated(t, command)
		t.Logf("replicated: cpu_s_per_gb=%.3f mb_per_s=%.0f one_connection_per_s=%.0f: %s",
			r.cpu, r.mbPerSec, r.oneConn, strings.Fields(command)[0])
		runs[command] = append(runs[command], r)
	}
	if *againstNode != "" {
		a, b := mean(runs[*nodeCommand]), mean(runs[*againstNode])
		t.Logf("replicated: ratios: cpu=%.3f one_connection=%.2f", a.cpu/b.cpu, a.oneConn/b.oneConn)
	}
}

func mean(runs []replicated) (m replicated) {
	for _, r := range runs {
		m.cpu += r.cpu / float64(len(runs))
		m.mbPerSec += r.mbPerSec / float64(len(runs))
		m.oneConn += r.oneConn / float64(len(runs))
	}
	return m
}

func measureReplicated(t *testing.T, command string) (r replicated) {
	saved := *nodeCommand
	*nodeCommand = command
	defer func() { *nodeCommand = saved }()
	run := newFailoverRun(t, 1)
	c := run.cluster
	defer func() { require.NoError(t, c.Close()) }()
	leaders := run.settle(t)
	large := load.BatchShape{RecordBytes: 1 << 10, BatchBytes: 1 << 20, Seed: 1}
	_, _, err := c.fill(leaders, large, int64(*warmGB*1e9))
	require.NoError(t, err)
	before := c.cpu(t)
	bytes, wall, err := c.fill(leaders, large, int64(*replicateGB*1e9))
	require.NoError(t, err)
	run.settle(t) // the slowest follower has it too
	r.cpu = (c.cpu(t) - before) / (float64(bytes) / 1e9)
	r.mbPerSec = float64(bytes) / 1e6 / wall.Seconds()

	small := load.BatchShape{RecordBytes: 1 << 10, BatchBytes: 16 << 10, Seed: 1}
	for _, n := range []int{2000, 4000} { // the first is not counted
		batch, _ := load.EncodeBatch(small)
		bytes, wall, err = c.fill(leaders[:1], small, int64(n*len(batch)))
		require.NoError(t, err)
		r.oneConn = float64(bytes) / float64(len(batch)) / wall.Seconds()
	}
	return r
}

// fill appends about so many bytes in all to the partitions, over one connection each to its leader,
// with five requests in flight.
func (c *Cluster) fill(leaders []ledPartition, shape load.BatchShape, bytes int64) (int64, time.Duration, error) {
	batch, _ := load.EncodeBatch(shape)
	requests := int(bytes)/len(batch)/len(leaders) + 1
	begin := time.Now()
	failures := make([]error, len(leaders))
	var wait sync.WaitGroup
	for p := range leaders {
		wait.Go(func() {
			failures[p] = c.fillPartition(p, leaders[p].leader, batch, requests)
		})
	}
	wait.Wait()
	for p, err := range failures {
		if err != nil {
			return 0, 0, fmt.Errorf("partition %d: %w", p, err)
		}
	}
	return int64(requests * len(batch) * len(leaders)), time.Since(begin), nil
}

func (c *Cluster) fillPartition(partition, leader int, batch []byte, requests int) error {
	conn, err := c.DialContext(context.Background(), "tcp", c.Nodes[leader-1].Address)
	if err != nil {
		return err
	}
	l := load.NewConn(conn)
	defer l.Close()
	frame := load.AppendFrame(nil, load.ProduceRequest(failoverTopic, partition, -1, batch), 0)
	const inFlight = 5
	for sent, received := 0, 0; received < requests; {
		if sent < requests && sent-received < inFlight {
			if err := l.Send(frame); err != nil {
				return err
			}
			sent++
			continue
		}
		_, body, err := l.Receive()
		if err != nil {
			return err
		}
		res := load.ProduceRequest(failoverTopic, partition, -1, nil).ResponseKind().(*kmsg.ProduceResponse)
		if err := load.Decode(res, body); err != nil {
			return err
		}
		if err := load.ProduceError(res); err != nil {
			return err
		}
		received++
	}
	return nil
}

// cpu returns the CPU seconds that all nodes have taken so far.
func (c *Cluster) cpu(t *testing.T) (seconds float64) {
	t.Helper()
	for _, b := range c.Nodes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.Pid()))
		require.NoError(t, err)
		fields := strings.Fields(string(stat[slices.Index(stat, ')')+1:]))
		for _, f := range fields[11:13] { // utime, stime, in hundredths
			n, err := strconv.ParseFloat(f, 64)
			require.NoError(t, err)
			seconds += n / 100
		}
	}
	return seconds
}
