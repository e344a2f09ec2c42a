package client

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/wire"
)

// List asks for an offset and fills in the answer, if one comes.
func (c *Conn) List(l *List) {
	l.Offset, l.AnswerStamp = kafka.NoOffset, kafka.NoTimestamp
	r := kmsg.NewPtrListOffsetsRequest()
	r.Version = c.host.version(wire.KeyListOffsets)
	if l.Timestamp == kafka.MaxTimestamp {
		r.Version = max(r.Version, 7)
	}
	if l.Committed {
		r.Version = max(r.Version, 2)
		r.IsolationLevel = 1
	}
	r.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = c.host.Topic
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.Timestamp = int32(l.Partition), l.Timestamp
	t.Partitions = append(t.Partitions, part)
	r.Topics = append(r.Topics, t)

	c.host.Observer.ListInvoked(l)
	res, ok := c.Call(r).(*kmsg.ListOffsetsResponse)
	if !ok || len(res.Topics) != 1 || len(res.Topics[0].Partitions) != 1 {
		return
	}
	got := &res.Topics[0].Partitions[0]
	l.Answered, l.Code = true, kafka.ErrorCode(got.ErrorCode)
	l.Offset, l.AnswerStamp = kafka.Offset(got.Offset), got.Timestamp
	c.host.Observer.ListReturned(l)
}

// Lister asks for offsets now and then.
type Lister struct {
	host *Host
	next func() *List
	stop bool
}

// NewLister returns a client that asks what next returns. Run it in a task.
func NewLister(h *Host, next func() *List) *Lister { return &Lister{host: h, next: next} }

// Stop has it end before its next question.
func (l *Lister) Stop() { l.stop = true }

// Run asks until Stop.
func (l *Lister) Run() {
	var conn *Conn
	for !l.stop {
		if conn == nil || conn.Closed() {
			conn = l.host.Dial()
			if !conn.Hello(l.host.version(wire.KeyApiVersions)) {
				conn.Close()
			}
		} else {
			conn.List(l.next())
		}
		l.host.pause()
	}
	if conn != nil {
		conn.Close()
	}
}
