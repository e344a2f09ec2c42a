package partition

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
	"stet/core/record"
)

const wall = int64(1_700_000_000_000)

// built examines a batch of one record for each timestamp.
func built(spec record.Spec, keyed bool, timestamps ...int64) record.Facts {
	b := record.Builder{Spec: spec}
	for _, at := range timestamps {
		r := record.Record{Timestamp: at, Value: []byte("v")}
		if keyed {
			r.Key = []byte("k")
		}
		b.Add(r)
	}
	scratch := &record.Scratch{}
	return scratch.Examine(b.Build(nil, scratch), 1<<20)
}

func TestJudgeAcceptsAnOrdinaryBatch(t *testing.T) {
	config := kafka.DefaultTopicConfig()
	facts := built(record.Plain(), false, wall, wall+1)
	require.Zero(t, judgeBatch(&config, &facts, wall).Code)
	require.Zero(t, testing.AllocsPerRun(10, func() { judgeBatch(&config, &facts, wall) }))
}

func TestJudgeRefusesAsKafkaDoes(t *testing.T) {
	control, transactional, stamped := record.Plain(), record.Plain(), record.Plain()
	control.Control = true
	transactional.Transactional = true
	transactional.ProducerID, transactional.ProducerEpoch, transactional.BaseSequence = 1, 0, 0
	stamped.TimestampType = kafka.LogAppendTime
	moved := record.Plain()
	moved.BaseOffset = 5
	for name, c := range map[string]struct {
		facts  record.Facts
		change func(*kafka.TopicConfig)
		code   kafka.ErrorCode
		index  int32 // of the record that is named; -1 for none
	}{
		"control":     {built(control, true, wall), nil, kafka.InvalidRecord, -1},
		"transaction": {built(transactional, true, wall), nil, kafka.InvalidTxnState, -1},
		"append time": {built(stamped, true, wall), nil, kafka.InvalidTimestamp, -1},
		"base offset": {built(moved, true, wall), nil, kafka.InvalidRecord, -1},
		"no key": {
			built(record.Plain(), false, wall), func(c *kafka.TopicConfig) { c.CleanupCompact = true },
			kafka.InvalidRecord, 0,
		},
		"too late": {built(record.Plain(), true, wall, wall+3600_001), nil, kafka.InvalidTimestamp, 1},
		"too early": {
			built(record.Plain(), true, wall, wall-11),
			func(c *kafka.TopicConfig) { c.TimestampBeforeMaxMs = 10 }, kafka.InvalidTimestamp, 1,
		},
		"too large": {
			built(record.Plain(), true, wall), func(c *kafka.TopicConfig) { c.MaxMessageBytes = 60 },
			kafka.MessageTooLarge, -1,
		},
		"larger than a segment": {
			built(record.Plain(), true, wall),
			func(c *kafka.TopicConfig) { c.SegmentBytes = 60 }, kafka.RecordListTooLarge, -1,
		},
		"garbage": {record.Inspect([]byte("no batch")), nil, kafka.CorruptMessage, -1},
	} {
		config := kafka.DefaultTopicConfig()
		if c.change != nil {
			c.change(&config)
		}
		v := judgeBatch(&config, &c.facts, wall)
		require.Equal(t, c.code, v.Code, "%s: %s", name, v.Message)
		require.NotEmpty(t, v.Message, name)
		if c.index >= 0 {
			require.Len(t, v.Records, 1, name)
			require.Equal(t, c.index, v.Records[0].Index, name)
		}
	}
}

func TestAppendTimeTopicsTakeAnyTimestamp(t *testing.T) {
	config := kafka.DefaultTopicConfig()
	config.LogAppendTime = true
	facts := built(record.Plain(), true, 1<<50)
	require.Zero(t, judgeBatch(&config, &facts, wall).Code)
}

func TestTimestampLimitsDoNotOverflow(t *testing.T) {
	config := kafka.DefaultTopicConfig()
	config.TimestampAfterMaxMs = math.MaxInt64
	facts := record.Facts{
		SizeBytes: 70, Count: 1, Walked: true, FirstUnkeyed: -1,
		RecordMinTimestamp: 0, RecordMaxTimestamp: math.MaxInt64,
	}
	require.Zero(t, judgeBatch(&config, &facts, wall).Code)
	config.TimestampAfterMaxMs = 1000
	require.Equal(t, kafka.InvalidTimestamp, judgeBatch(&config, &facts, wall).Code)
	require.Equal(t, kafka.InvalidTimestamp, judgeBatch(&config, &facts, -5).Code)
}
