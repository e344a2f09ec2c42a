package load

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions that every broker under test has, with topics by name.
const (
	produceVersion      = 9
	fetchVersion        = 12
	createTopicsVersion = 5
	listOffsetsVersion  = 6
)

// CreateTopic makes a topic with one replica and waits until every partition has a leader. A topic
// that exists already is fine.
func CreateTopic(c *Conn, name string, partitions int, configs map[string]string) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.SetVersion(createTopicsVersion)
	req.TimeoutMillis = 30_000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, int32(partitions), 1
	for key, value := range configs {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = key, &value
		topic.Configs = append(topic.Configs, config)
	}
	req.Topics = append(req.Topics, topic)
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	code := resp.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode
	if err := kerr.ErrorForCode(code); err != nil && err != kerr.TopicAlreadyExists {
		return fmt.Errorf("create topic %s: %w", name, err)
	}
	return waitForLeaders(c, name, partitions)
}

// waitForLeaders asks the broker itself: its metadata may name it as the leader a little before it
// knows.
func waitForLeaders(c *Conn, name string, partitions int) error {
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		if _, err = EndOffsets(c, name, partitions, -1); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// EndOffsets returns the log end offset of each partition, or the offsets at a timestamp in
// milliseconds (-1: end, -2: start).
func EndOffsets(c *Conn, topic string, partitions int, at int64) ([]int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.SetVersion(listOffsetsVersion)
	req.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for i := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp, p.CurrentLeaderEpoch = int32(i), at, -1
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	out := make([]int64, partitions)
	for _, t := range resp.(*kmsg.ListOffsetsResponse).Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("list offsets of %s/%d: %w", topic, p.Partition, err)
			}
			out[p.Partition] = p.Offset
		}
	}
	return out, nil
}
