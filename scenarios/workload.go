package scenarios

import (
	"stet/core/kafka"
	"stet/linearizability"
	"stet/sim"
	"stet/sim/client"
)

// source hands a producer its sends: client.Source.
type source struct {
	plan     *producerPlan
	recorder *recorder
	stream   *sim.Stream
	client   linearizability.ClientID
	seq      int64
	left     int
	askAt    sim.Time
}

// Next implements client.Source. Now and then several come at once, so that a pipe fills.
func (s *source) Next() (*client.Send, sim.Time) {
	now := s.recorder.scheduler.Now()
	if s.left == 0 {
		return nil, sim.Never
	}
	if s.askAt > now {
		return nil, s.askAt
	}
	s.left--
	if s.stream.Chance(1, 3) {
		s.askAt = now + 1 + s.stream.Delay(s.plan.pace.Low, s.plan.pace.High)
	}
	return s.send(kafka.PartitionID(s.stream.Index(int(s.plan.Partitions)))), 0
}

func (s *source) send(p kafka.PartitionID) *client.Send {
	record := s.recorder.invoke(s.client, p, &s.plan.ProducerConfig)
	send := &client.Send{Partition: p, Tag: record}
	for range 1 + s.stream.Skewed(s.plan.batch-1) {
		v := linearizability.Value{
			Client: s.client, Seq: s.seq, Nonce: s.stream.Uint64(),
			Invoke: record.Invoke,
		}
		s.seq++
		record.Records = append(record.Records, v)
		size := linearizability.ValueSizeBytes + int(s.stream.Skewed(s.plan.valueBytes))
		send.Records = append(send.Records, client.Record{
			Timestamp: s.timestamp(), Value: linearizability.AppendValue(nil, v, size),
		})
	}
	return send
}

// timestamp is about now, and not in order.
func (s *source) timestamp() int64 {
	now := sim.WallEpochMs + int64(s.recorder.scheduler.Now()/sim.Millisecond)
	return now + s.stream.Between(-500, 500)
}

// question draws what a lister asks.
func question(d draw, s *sim.Scheduler, partitions int32) *client.List {
	l := &client.List{
		Partition: kafka.PartitionID(d.Index(int(partitions))),
		Committed: d.Chance(1, 4),
	}
	switch d.Index(5) {
	case 0:
		l.Timestamp = kafka.EarliestTimestamp
	case 1:
		l.Timestamp = kafka.MaxTimestamp
	case 2:
		l.Timestamp = sim.WallEpochMs + d.Between(0, int64(s.Now()/sim.Millisecond)+1)
	default:
		l.Timestamp = kafka.LatestTimestamp
	}
	return l
}
