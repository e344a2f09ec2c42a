package commitlog

import "math"

// Config holds the settings of one log. It is immutable: SetConfig replaces it as a whole.
type Config struct {
	SegmentBytes       int32 // a segment is rolled before it would exceed this
	SegmentMs          int64 // age of a segment's first timestamp at which it is rolled
	SegmentIndexBytes  int32 // a segment is rolled when an index has this size
	IndexIntervalBytes int32 // bytes of log between two index entries

	// FlushMessages is the number of written records after which the log is synced. 1 is flush
	// mode: acknowledged means synced (see Log.AckEnd).
	FlushMessages int64

	LogAppendTime        bool  // the broker stamps record times (message.timestamp.type)
	ProducerExpirationMs int64 // idle producers are forgotten after this

	// AllowGaps accepts gaps between offsets in recovery: the topic is, or was, compacted.
	AllowGaps bool

	// IndexWriteEntries is the number of index entries that are collected in memory before they
	// are written. Tests and simulations make it small. 0 means 64.
	IndexWriteEntries int
}

// DefaultConfig returns Kafka 4.4's defaults.
func DefaultConfig() Config {
	return Config{
		SegmentBytes:         1 << 30,
		SegmentMs:            7 * 24 * 3600 * 1000,
		SegmentIndexBytes:    10 << 20,
		IndexIntervalBytes:   4096,
		FlushMessages:        math.MaxInt64,
		ProducerExpirationMs: 24 * 3600 * 1000,
	}
}

// FlushMode says whether acknowledged means synced.
func (c *Config) FlushMode() bool { return c.FlushMessages == 1 }

func (c *Config) indexWriteEntries() int {
	if c.IndexWriteEntries <= 0 {
		return 64
	}
	return c.IndexWriteEntries
}

// maxIndexEntries is the number of entries at which Kafka calls an offset index full.
func (c *Config) maxIndexEntries() int { return int(c.SegmentIndexBytes) / indexEntrySize }

// maxTimeEntries is the number at which it calls a time index full: one place is kept for the
// entry that a close writes (TimeIndex.isFull).
func (c *Config) maxTimeEntries() int { return int(c.SegmentIndexBytes)/timeEntrySize - 1 }
