package client

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/wire"
)

// Hello asks for the versions of a server, as every client does first. It says whether the
// connection stands.
func (c *Conn) Hello(version int16) bool {
	r := kmsg.NewPtrApiVersionsRequest()
	r.Version = version
	r.ClientSoftwareName, r.ClientSoftwareVersion = "stet-sim", "1"
	res, ok := c.Call(r).(*kmsg.ApiVersionsResponse)
	if ok && res.ErrorCode != 0 {
		c.host.Observer.Trouble("ApiVersions: " + kafka.ErrorCode(res.ErrorCode).String())
	}
	return ok
}

// Metadata asks about the topic, learns its id, and returns the number of partitions that have a
// leader. The code is of the topic, or NetworkException when there was no answer.
func (c *Conn) Metadata(version int16) (led int, code kafka.ErrorCode) {
	res, code := c.metadata(version)
	if code != kafka.None {
		return 0, code
	}
	t := &res.Topics[0]
	for i := range t.Partitions {
		if t.Partitions[i].ErrorCode == 0 && t.Partitions[i].Leader >= 0 {
			led++
		}
	}
	return led, kafka.None
}

// metadata asks about the topic and learns its id. With the code NONE the answer has that topic.
func (c *Conn) metadata(version int16) (*kmsg.MetadataResponse, kafka.ErrorCode) {
	r := kmsg.NewPtrMetadataRequest()
	r.Version = version
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &c.host.Topic
	r.Topics = append(r.Topics, topic)
	res, ok := c.Call(r).(*kmsg.MetadataResponse)
	if !ok || len(res.Topics) != 1 {
		return nil, kafka.NetworkException
	}
	t := &res.Topics[0]
	if code := kafka.ErrorCode(t.ErrorCode); code != kafka.None {
		return nil, code
	}
	if version >= 10 {
		c.host.TopicID = t.TopicID
	}
	return res, kafka.None
}

// CreateTopic creates the topic. The code is NetworkException when there was no answer.
func (c *Conn) CreateTopic(partitions int32, configs map[string]string,
	names []string,
) kafka.ErrorCode {
	return c.createTopic(partitions, 1, nil, configs, names, false)
}

// PlaceTopic creates the topic with one partition, whose replicas are on these brokers: the first is its
// preferred leader. The code is as that of CreateTopic.
func (c *Conn) PlaceTopic(replicas []int32, configs map[string]string, names []string) kafka.ErrorCode {
	return c.createTopic(-1, -1, replicas, configs, names, false)
}

// ValidateTopic asks whether CreateTopic would succeed without settings.
func (c *Conn) ValidateTopic(partitions int32) kafka.ErrorCode {
	return c.createTopic(partitions, 1, nil, nil, nil, true)
}

func (c *Conn) createTopic(partitions int32, factor int16, replicas []int32, configs map[string]string,
	names []string, validateOnly bool,
) kafka.ErrorCode {
	r := kmsg.NewPtrCreateTopicsRequest()
	r.Version, r.TimeoutMillis, r.ValidateOnly = 7, 5000, validateOnly
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = c.host.Topic, partitions, factor
	if len(replicas) > 0 {
		placed := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		placed.Replicas = replicas
		t.ReplicaAssignment = append(t.ReplicaAssignment, placed)
	}
	for _, name := range names {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		value := configs[name]
		config.Name, config.Value = name, &value
		t.Configs = append(t.Configs, config)
	}
	r.Topics = append(r.Topics, t)
	res, ok := c.Call(r).(*kmsg.CreateTopicsResponse)
	if !ok || len(res.Topics) != 1 {
		return kafka.NetworkException
	}
	return kafka.ErrorCode(res.Topics[0].ErrorCode)
}

// DeleteTopic deletes the topic. The code is NetworkException when there was no answer.
func (c *Conn) DeleteTopic() kafka.ErrorCode {
	r := kmsg.NewPtrDeleteTopicsRequest()
	r.Version, r.TimeoutMillis = 5, 5000
	r.TopicNames = append(r.TopicNames, c.host.Topic)
	res, ok := c.Call(r).(*kmsg.DeleteTopicsResponse)
	if !ok || len(res.Topics) != 1 {
		return kafka.NetworkException
	}
	return kafka.ErrorCode(res.Topics[0].ErrorCode)
}

// initProducerID asks for a producer id.
func (c *Conn) initProducerID(version int16) (kafka.ProducerID, kafka.ProducerEpoch, kafka.ErrorCode) {
	r := kmsg.NewPtrInitProducerIDRequest()
	r.Version = version
	r.TransactionTimeoutMillis = 60_000
	res, ok := c.Call(r).(*kmsg.InitProducerIDResponse)
	if !ok {
		return kafka.NoProducerID, kafka.NoProducerEpoch, kafka.NetworkException
	}
	return kafka.ProducerID(res.ProducerID), kafka.ProducerEpoch(res.ProducerEpoch),
		kafka.ErrorCode(res.ErrorCode)
}

// version draws a version of a key that the broker speaks. One choice is kept by whoever asks.
func (h *Host) version(key int16) int16 {
	v, ok := wire.Lookup(wire.BrokerListener, key)
	if !ok {
		return 0
	}
	return int16(h.Stream.Between(int64(v.Min), int64(v.Max)))
}
