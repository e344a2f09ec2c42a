package broker

import (
	"errors"
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
		AutoRebalanceLeaders:     c.Rebalance.Enabled,
		CheckpointIntervalMs:     c.CheckpointInterval.Milliseconds(),
		DefaultReplicationFactor: c.DefaultReplicationFactor,
		FetchMaxBytes:            c.FetchMaxBytes,
		FetchSessionSlots:        int32(c.FetchSessionSlots),
		HeartbeatIntervalMs:      c.HeartbeatInterval.Milliseconds(),
		NumPartitions:            c.NumPartitions,
		ProducerExpirationMs:     c.ProducerExpiration.Milliseconds(),
		RebalanceCheckSeconds:    c.Rebalance.CheckSeconds,
		RebalancePercent:         c.Rebalance.Percent,
		RecoveryJobs:             int32(c.RecoveryJobs),
		ReplicaFetchBackoffMs:    c.Replica.FetchBackoff.Milliseconds(),
		ReplicaFetchBytes:        c.Replica.FetchBytes,
		ReplicaFetchMinBytes:     c.Replica.FetchMinBytes,
		ReplicaFetchTotalBytes:   c.Replica.FetchTotalBytes,
		ReplicaFetchWaitMs:       c.Replica.FetchWait.Milliseconds(),
		ReplicaLagTimeMs:         c.Replica.LagTime.Milliseconds(),
		RequestTimeoutMs:         c.RequestTimeout.Milliseconds(),
	}
}

// Set changes a setting under Kafka's name, as of the start of the process. The error does not name it.
// What names this node and its places is not set by it.
func (c *Config) Set(name, value string) error {
	s, known := kafka.FindBrokerSetting(name)
	if !known {
		return errors.New("no such setting")
	}
	if err := s.Check(value); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), name+": "))
	}
	v := c.values()
	if err := s.Set(&v, value); err != nil {
		return err
	}
	c.Topic, c.AutoCreateTopics, c.NumPartitions = v.Topic, v.AutoCreateTopics, v.NumPartitions
	c.CheckpointInterval = time.Duration(v.CheckpointIntervalMs) * time.Millisecond
	c.DefaultReplicationFactor, c.FetchMaxBytes = v.DefaultReplicationFactor, v.FetchMaxBytes
	c.FetchSessionSlots, c.RecoveryJobs = int(v.FetchSessionSlots), int(v.RecoveryJobs)
	c.HeartbeatInterval = time.Duration(v.HeartbeatIntervalMs) * time.Millisecond
	c.ProducerExpiration = time.Duration(v.ProducerExpirationMs) * time.Millisecond
	c.Rebalance = kafka.LeaderRebalance{
		Enabled: v.AutoRebalanceLeaders, CheckSeconds: v.RebalanceCheckSeconds, Percent: v.RebalancePercent,
	}
	c.RequestTimeout = time.Duration(v.RequestTimeoutMs) * time.Millisecond
	c.Replica = ReplicaConfig{
		FetchBackoff:    time.Duration(v.ReplicaFetchBackoffMs) * time.Millisecond,
		FetchBytes:      v.ReplicaFetchBytes,
		FetchMinBytes:   v.ReplicaFetchMinBytes,
		FetchTotalBytes: v.ReplicaFetchTotalBytes,
		FetchWait:       time.Duration(v.ReplicaFetchWaitMs) * time.Millisecond,
		LagTime:         time.Duration(v.ReplicaLagTimeMs) * time.Millisecond,
	}
	return nil
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
