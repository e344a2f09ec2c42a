package broker

import (
	"time"

	"stet/core/commitlog"
	"stet/core/metadata"
	"stet/core/partition"
)

// settingsOf returns what is in force for a topic, or for none in particular with nil: the node's
// defaults, under the topic's own settings. The controller has validated those; one that this
// software does not know leaves the default in force.
func (b *Broker) settingsOf(topic *metadata.Topic) (*partition.Config, *commitlog.Config) {
	config := b.config.Topic
	if topic != nil {
		for _, e := range topic.Configs() {
			_ = config.Set(e.Name, e.Value)
		}
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
	r.SetConfig(config, logConfig, b.out)
	b.afterReplica(r)
}
