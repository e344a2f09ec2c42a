package main

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/bench/load"
)

func (r *imageRun) createTopics(partitions int, names ...string) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.SetVersion(7)
	req.TimeoutMillis = int32(imageTimeout.Milliseconds())
	for _, name := range names {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, int32(partitions), int16(r.replicas)
		req.Topics = append(req.Topics, t)
	}
	resp, err := r.conn.Do(req)
	if err != nil {
		return err
	}
	for _, t := range resp.(*kmsg.CreateTopicsResponse).Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return fmt.Errorf("create %s: %w", t.Topic, err)
		}
	}
	return nil
}

func (r *imageRun) deleteTopic(name string) error {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.SetVersion(5)
	req.TimeoutMillis = int32(imageTimeout.Milliseconds())
	req.TopicNames = []string{name}
	resp, err := r.conn.Do(req)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode)
}

// metadataOf asks a broker for one topic, or all, and returns how many it tells of and the size of
// the answer in bytes.
func metadataOf(c *load.Conn, name *string) (topics, bytes int, err error) {
	req := kmsg.NewPtrMetadataRequest()
	req.SetVersion(12)
	req.AllowAutoTopicCreation = false
	if name != nil {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = name
		req.Topics = append(req.Topics, t)
	}
	if err := c.Send(load.AppendFrame(nil, req, 0)); err != nil {
		return 0, 0, err
	}
	_, body, err := c.Receive()
	if err != nil {
		return 0, 0, err
	}
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	if err := load.Decode(resp, body); err != nil {
		return 0, 0, err
	}
	for i := range resp.Topics {
		if resp.Topics[i].ErrorCode == 0 {
			topics++
		}
	}
	return topics, len(body), nil
}
