//go:build live

package live

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/bench/load"
)

var (
	recoveryGB         = flag.Float64("gb", 1, "gigabytes in the logs when the broker is killed")
	recoveryPartitions = flag.Int("partitions", 8, "partitions that they are spread over")
)

// TestRecoveryAfterKillIsTimed fills partitions, kills the broker at rest, and takes the time from
// exec until every partition tells its end again, and until one takes a record.
func TestRecoveryAfterKillIsTimed(t *testing.T) {
	b := newBroker(t)
	require.NoError(t, b.Start())
	createTopic(t, b, "recovery", *recoveryPartitions, nil)
	o := load.ProduceOptions{
		Address: b.Address, Topic: "recovery", Partitions: *recoveryPartitions, Conns: 4,
		InFlight: 5, Acks: -1, Bytes: int64(*recoveryGB * 1e9),
		Shape: load.BatchShape{RecordBytes: 1000, BatchBytes: 64 << 10},
	}
	_, err := load.Produce(o)
	require.NoError(t, err)
	before, err := load.EndOffsets(dial(t, b), o.Topic, o.Partitions, -1)
	require.NoError(t, err)
	require.NoError(t, b.Kill())

	begin := time.Now()
	require.NoError(t, b.Start())
	c := dial(t, b)
	var after []int64
	for time.Since(begin) < 5*time.Minute {
		if after, err = load.EndOffsets(c, o.Topic, o.Partitions, -1); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, err)
	listed := time.Since(begin)
	require.Equal(t, before, after)
	o.Conns, o.InFlight, o.Bytes = 1, 1, 1
	_, err = load.Produce(o)
	require.NoError(t, err)
	t.Logf("recovery: gb=%.1f partitions=%d answer=%v ends=%v ack=%v", *recoveryGB,
		*recoveryPartitions, b.Answered, listed, time.Since(begin))
	require.NoError(t, b.Stop())
}
