package kafka

// TopicConfig holds what is in force for one topic: Kafka's names, in Go spelling. It has a field for
// each setting that Stet acts upon, and for no other; TopicSettings binds the two. Immutable once it
// is in use.
type TopicConfig struct {
	CleanupCompact bool // cleanup.policy contains compact

	SegmentBytes       int32
	SegmentMs          int64
	SegmentIndexBytes  int32
	IndexIntervalBytes int32
	FlushMessages      int64 // 1 is flush mode: acknowledged means synced

	UncleanLeaderElection bool // any replica may lead if no other can; its data may be lost

	MinInsyncReplicas           int32 // 0: as DefaultMinInsyncReplicas says
	MaxMessageBytes             int32
	MaxDecompressedMessageBytes int32
	LogAppendTime               bool // message.timestamp.type
	TimestampBeforeMaxMs        int64
	TimestampAfterMaxMs         int64
}

// DefaultTopicConfig returns what is in force where nothing is set.
func DefaultTopicConfig() TopicConfig {
	var c TopicConfig
	for _, s := range TopicSettings() {
		if s.set != nil && s.Default != "" {
			_ = s.set(&c, s.Default) // a test sets every default
		}
	}
	return c
}

// MinInsync returns the min.insync.replicas of a topic with so many replicas.
func (c *TopicConfig) MinInsync(replicationFactor int) int {
	if c.MinInsyncReplicas > 0 {
		return int(c.MinInsyncReplicas)
	}
	return DefaultMinInsyncReplicas(replicationFactor)
}

// DefaultMinInsyncReplicas is the min.insync.replicas of a topic for which nothing else is set: two
// copies where there are three, else one.
func DefaultMinInsyncReplicas(replicationFactor int) int {
	if replicationFactor >= 3 {
		return 2
	}
	return 1
}

// Set changes the setting with Kafka's name to a value that its Check accepts. Settings that change
// nothing that Stet does are passed over.
func (c *TopicConfig) Set(name, value string) error {
	s, known := FindTopicSetting(name)
	if !known || s.set == nil {
		return nil
	}
	return s.named(s.set(c, value))
}
