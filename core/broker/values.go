package broker

import (
	"fmt"
	"strings"
	"time"

	"stet/core/kafka"
	"stet/core/metadata"
)

// values returns what the configuration says under the names of Kafka's broker settings.
func (c *Config) values() kafka.BrokerValues {
	var listeners []string
	for _, l := range c.Listeners {
		listeners = append(listeners, fmt.Sprintf("%s://%s", l.Name, kafka.JoinHostPort(l.Host, l.Port)))
	}
	return kafka.BrokerValues{
		Topic:                    c.Topic,
		AdvertisedListeners:      strings.Join(listeners, ","),
		LogDirs:                  strings.Join(c.Directories, ","),
		NodeID:                   int32(c.NodeID),
		Rack:                     c.Rack,
		AutoCreateTopics:         c.AutoCreateTopics,
		CheckpointIntervalMs:     c.CheckpointInterval.Milliseconds(),
		DefaultReplicationFactor: c.DefaultReplicationFactor,
		FetchMaxBytes:            c.FetchMaxBytes,
		FetchSessionSlots:        int32(c.FetchSessionSlots),
		HeartbeatIntervalMs:      c.HeartbeatInterval.Milliseconds(),
		NumPartitions:            c.NumPartitions,
		ProducerExpirationMs:     c.ProducerExpiration.Milliseconds(),
		RecoveryJobs:             int32(c.RecoveryJobs),
		RequestTimeoutMs:         c.RequestTimeout.Milliseconds(),
	}
}

// inForce returns the configuration under what the metadata set while brokers run: for all of them,
// and for this one.
func (c *Config) inForce(image *metadata.Image) *Config {
	v := image.BrokerValues(c.values(), c.NodeID)
	out := *c
	out.Topic = v.Topic
	out.ProducerExpiration = time.Duration(v.ProducerExpirationMs) * time.Millisecond
	out.RecoveryJobs = int(v.RecoveryJobs)
	return &out
}

// ownSettings says whether the settings of a resource may be in force here.
func (b *Broker) ownSettings(r metadata.Resource) bool {
	return r == metadata.BrokerDefaults() || r == metadata.BrokerResource(b.config.NodeID)
}
