package client

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/wire"
)

// List asks for an offset and fills in the answer, if one comes.
func (c *Conn) List(l *List) {
	l.Offset, l.AnswerStamp, l.Server = kafka.NoOffset, kafka.NoTimestamp, c.server
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
	host    *Host
	leaders *Leaders // nil with one broker
	conns   []*Conn  // one a broker
	next    func() *List
	stop    bool
}

// NewLister returns a client that asks what next returns, of a topic with so many partitions. Run it in
// a task.
func NewLister(h *Host, partitions int32, next func() *List) *Lister {
	return &Lister{host: h, leaders: newLeaders(h, partitions), next: next}
}

// Stop has it end before its next question.
func (l *Lister) Stop() { l.stop = true }

// Run asks until Stop.
func (l *Lister) Run() {
	for !l.stop {
		if l.leaders != nil {
			l.askLeader()
		} else if c, fresh := l.connect(Server{l.host.Server, l.host.Addr}); !fresh {
			c.List(l.next())
		}
		l.host.pause()
	}
	for _, c := range l.conns {
		c.Close()
	}
	l.leaders.close()
}

// askLeader asks the leader of the partition that the question is about, if one is known.
func (l *Lister) askLeader() {
	if !l.leaders.refresh() {
		return
	}
	q := l.next()
	leader, known := l.leaders.of(q.Partition)
	if !known {
		return
	}
	c, _ := l.connect(leader)
	if c.List(q); !q.Answered {
		l.leaders.suspect()
	}
	l.leaders.refused(q.Code, q.Partition, int32(kafka.NoLeaderEpoch), "")
}

// connect returns the connection to a broker, and whether it is a new one.
func (l *Lister) connect(to Server) (c *Conn, fresh bool) {
	l.conns = slices.DeleteFunc(l.conns, (*Conn).Closed)
	for _, c := range l.conns {
		if c.server == to {
			return c, false
		}
	}
	c = l.host.dialTo(to)
	l.conns = append(l.conns, c)
	if !c.Hello(l.host.version(wire.KeyApiVersions)) {
		c.Close()
	}
	return c, true
}
