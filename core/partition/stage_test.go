package partition_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/core/record"
)

// stage is the model's three nodes, led step by step by a test. What a call starts is done when the
// call returns; the checks of the model judge every one. Node i is m.nodes[i-1].
type stage struct {
	*model
	t *testing.T
}

func newStage(t *testing.T) *stage {
	m := newModel(1, controllerBugs{})
	m.minISR, m.topic.MinInsyncReplicas = 2, 2
	m.config = commitlog.DefaultConfig()
	s := &stage{m, t}
	s.quiet()
	s.image(1, 0, 1, 2, 3)
	return s
}

func (s *stage) node(id kafka.BrokerID) *node { return s.nodes[id-1] }

// quiet performs every effect.
func (s *stage) quiet() {
	for _, n := range s.nodes {
		for n.replica != nil && n.world.Outstanding() > 0 {
			n.step()
		}
	}
}

// image publishes who leads, and who is in sync, to these nodes, or to all.
func (s *stage) image(leader kafka.BrokerID, epoch kafka.LeaderEpoch, isr ...kafka.BrokerID) {
	s.controller.change(func(next *image) { next.leader, next.epoch, next.isr = leader, epoch, isr })
	for _, n := range s.nodes {
		s.hears(n)
	}
}

func (s *stage) hears(n *node) {
	s.pace.skip = 0
	for len(n.news) > 0 {
		n.hear()
	}
	s.quiet()
}

// writes makes a leader append one record.
func (s *stage) writes(id kafka.BrokerID) (value int) {
	n := s.node(id)
	s.values++
	b := record.Builder{Spec: record.Plain()}
	b.Add(record.Record{Timestamp: 1, Value: []byte{byte(s.values >> 8), byte(s.values)}})
	data := b.Build(nil, nil)
	facts := s.scratch.Examine(data, 1<<20)
	s.produced[s.values] = partition.AcksAll
	v := n.replica.Produce(s.now, &partition.Produce{
		Ticket: partition.Ticket{Index: uint32(s.values), Generation: uint32(id)},
		Acks:   partition.AcksAll, Facts: &facts, Buf: env.BufRef{Data: data},
	}, &n.out)
	require.Equal(s.t, kafka.None, v.Code)
	n.tend()
	s.quiet()
	return s.values
}

// asks is what a follower asks now.
func (s *stage) asks(id kafka.BrokerID) (partition.Position, partition.FollowerFetch) {
	n := s.node(id)
	at, ok := n.replica.FetchPosition()
	require.True(s.t, ok, "node %d has a position", id)
	return at, partition.FollowerFetch{
		Broker: id, BrokerEpoch: n.epoch, Eligible: true, Offset: at.Offset, LogStart: at.LogStart,
		HighWatermark: at.HighWatermark, LastFetchedEpoch: at.LastFetchedEpoch,
		CurrentLeaderEpoch: at.LeaderEpoch, MaxBytes: 1 << 20,
	}
}

// reads is a leader's answer.
func (s *stage) reads(id kafka.BrokerID, w partition.FollowerFetch) partition.Read {
	n := s.node(id)
	read := n.replica.ReadForFollower(s.now, w, &n.out)
	n.tend()
	return read
}

// answer makes of a read what the follower is told.
func (s *stage) answer(leader kafka.BrokerID, read partition.Read) *partition.Fetched {
	f := &partition.Fetched{
		Code: read.Code, HighWatermark: read.HighWatermark, LogStart: read.LogStartOffset,
		Diverging: read.Diverging,
	}
	if read.Found.Len > 0 {
		s.calm = true
		content := s.node(leader).world.Disk.Content(logName + "/" + commitlog.FileName(read.Found.Segment, ".log"))
		s.receive(f, content[read.Found.Off:read.Found.Off+read.Found.Len])
	}
	return f
}

// fetches is one round trip.
func (s *stage) fetches(id, leader kafka.BrokerID) (partition.Read, partition.FollowResult) {
	at, w := s.asks(id)
	read := s.reads(leader, w)
	n := s.node(id)
	result := n.replica.Fetched(s.now, at, s.answer(leader, read), &n.out)
	n.tend()
	s.quiet()
	return read, result
}

// ends returns the ends of all logs and high watermarks.
func (s *stage) ends() (ends, high [nodeCount]int) {
	for i, n := range s.nodes {
		ends[i], high[i] = int(n.replica.LogEndOffset()), int(n.replica.HighWatermark())
	}
	return ends, high
}
