package client

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
)

// seen is an Observer that remembers.
type seen struct {
	now      func() sim.Time
	started  []*Send
	attempts []Attempt
	returned []*Send
	polls    []*Poll // that returned
	asked    []*Poll
	lists    []*List
	troubles []string
}

func (s *seen) AttemptStarted(x *Send)          { s.started = append(s.started, x) }
func (s *seen) AttemptEnded(_ *Send, a Attempt) { s.attempts = append(s.attempts, a) }
func (s *seen) SendReturned(x *Send)            { s.returned = append(s.returned, x) }
func (s *seen) PollInvoked(p *Poll)             { s.asked = append(s.asked, p) }
func (s *seen) PollReturned(p *Poll)            { s.polls = append(s.polls, p) }
func (s *seen) ListInvoked(*List)               {}
func (s *seen) ListReturned(l *List)            { s.lists = append(s.lists, l) }
func (s *seen) Trouble(name string)             { s.troubles = append(s.troubles, name) }

// sends is a Source of sends that are all there at once.
type sends struct{ left []*Send }

// Next implements Source.
func (s *sends) Next() (*Send, sim.Time) {
	if len(s.left) == 0 {
		return nil, sim.Never
	}
	x := s.left[0]
	s.left = s.left[1:]
	return x, 0
}

// someSends makes n sends of one record each for a partition, with values p0.0, p0.1, ...
func someSends(p kafka.PartitionID, n int) (all []*Send) {
	for i := range n {
		all = append(all, &Send{Partition: p, Records: []Record{{
			Timestamp: sim.WallEpochMs, Value: fmt.Appendf(nil, "p%d.%d", p, i),
		}}})
	}
	return all
}

// values reads the values of batches.
func values(batches []record.View) (all []string) {
	var scratch record.Scratch
	for _, b := range batches {
		scratch.Records(b, 1<<20, func(r record.Record) bool {
			all = append(all, string(r.Value))
			return true
		})
	}
	return all
}

func batchesOf(r *kmsg.ProduceRequest) (all []record.View) {
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			all = append(all, p.Records)
		}
	}
	return all
}
