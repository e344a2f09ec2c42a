package partition

import "math"

// Config holds the effective settings of one topic: Kafka's names, in Go spelling. Immutable.
type Config struct {
	CleanupDelete  bool // cleanup.policy contains delete
	CleanupCompact bool // cleanup.policy contains compact

	SegmentBytes       int32
	SegmentMs          int64
	SegmentIndexBytes  int32
	IndexIntervalBytes int32
	FlushMessages      int64 // 1 is flush mode: acknowledged means synced
	RetentionMs        int64 // -1: no limit
	RetentionBytes     int64 // -1: no limit

	MinInsyncReplicas           int32
	MaxMessageBytes             int32
	MaxDecompressedMessageBytes int32
	LogAppendTime               bool // message.timestamp.type
	TimestampBeforeMaxMs        int64
	TimestampAfterMaxMs         int64
	DeleteRetentionMs           int64
	FileDeleteDelayMs           int64
	UncleanLeaderElectionEnable bool
}

// DefaultConfig returns Kafka 4.4's defaults.
func DefaultConfig() Config {
	return Config{
		CleanupDelete:               true,
		SegmentBytes:                1 << 30,
		SegmentMs:                   7 * 24 * 3600 * 1000,
		SegmentIndexBytes:           10 << 20,
		IndexIntervalBytes:          4096,
		FlushMessages:               math.MaxInt64,
		RetentionMs:                 7 * 24 * 3600 * 1000,
		RetentionBytes:              -1,
		MinInsyncReplicas:           1,
		MaxMessageBytes:             1<<20 + 12,
		MaxDecompressedMessageBytes: math.MaxInt32 - 8,
		TimestampBeforeMaxMs:        math.MaxInt64,
		TimestampAfterMaxMs:         3600 * 1000,
		DeleteRetentionMs:           24 * 3600 * 1000,
		FileDeleteDelayMs:           60 * 1000,
	}
}
