package broker

import (
	"time"

	"stet/core/commitlog"
	"stet/core/kafka"
	"stet/core/metadata"
)

// settingsOf returns what is in force for a topic, or for none in particular with nil: the node's
// defaults, under the topic's own settings.
func (b *Broker) settingsOf(topic *metadata.Topic) (*kafka.TopicConfig, *commitlog.Config) {
	config := b.config.Topic
	if topic != nil {
		config = metadata.TopicConfig(config, topic.Configs())
	}
	logConfig := commitlog.DefaultConfig()
	logConfig.SegmentBytes = config.SegmentBytes
	logConfig.SegmentMs = config.SegmentMs
	logConfig.SegmentIndexBytes = config.SegmentIndexBytes
	logConfig.IndexIntervalBytes = config.IndexIntervalBytes
	logConfig.FlushMessages = config.FlushMessages
	logConfig.LogAppendTime = config.LogAppendTime
	logConfig.ProducerExpirationMs = int64(b.config.ProducerExpiration / time.Millisecond)
	logConfig.AllowGaps = config.CleanupCompact
	if b.config.IndexWriteEntries > 0 {
		logConfig.IndexWriteEntries = b.config.IndexWriteEntries
	}
	return &config, &logConfig
}

func (b *Broker) configureReplica(r *hosted, topic *metadata.Topic) {
	config, logConfig := b.settingsOf(topic)
	r.SetDurably(flushesItself(topic))
	r.SetConfig(config, logConfig, b.out)
	b.afterReplica(r)
}

// flushesItself says whether flush mode is set for a topic, and so on every broker: nothing that a broker
// is set to comes before that.
func flushesItself(topic *metadata.Topic) bool {
	config := metadata.TopicConfig(kafka.DefaultTopicConfig(), topic.Configs())
	return config.FlushMessages == 1
}
