package scenarios

import (
	"encoding/binary"

	"stet/core/kafka"
	"stet/linearizability"
	"stet/scenarios/schedule"
	"stet/sim"
	"stet/sim/client"
	"stet/sim/digest"
)

// source hands a producer the sends of its schedule: client.Source.
type source struct {
	plan     *schedule.Producer
	recorder *recorder
	seed     uint64
	seq      int64
	next     int
	readyAt  sim.Time // of the next send
}

// tracked is a send of the history with its number in the schedule: what hangs on client.Send.
type tracked struct {
	*linearizability.Send
	producer, number int
}

// Next implements client.Source.
func (s *source) Next() (*client.Send, sim.Time) {
	if s.next == len(s.plan.Sends) {
		return nil, sim.Never
	}
	now := s.recorder.scheduler.Now()
	if s.readyAt > now {
		return nil, s.readyAt
	}
	send := s.send(&s.plan.Sends[s.next])
	if s.next++; s.next < len(s.plan.Sends) {
		s.readyAt = now + s.plan.Sends[s.next].After
	}
	return send, 0
}

// keys are what records may have as a key. The second and third are those of control records.
var keys = [][]byte{nil, {0, 0, 0, 1}, {0, 0, 0, 0}, []byte("k")}

func (s *source) send(planned *schedule.Send) *client.Send {
	id := linearizability.ClientID(s.plan.ID)
	record := s.recorder.invoke(id, planned.Partition, &s.plan.ProducerConfig)
	send := &client.Send{
		Partition: planned.Partition, Tag: tracked{record, s.plan.ID, planned.Number},
	}
	now := sim.WallEpochMs + int64(s.recorder.scheduler.Now()/sim.Millisecond)
	for _, r := range planned.Records {
		v := linearizability.Value{
			Client: id, Seq: s.seq, Nonce: nonce(s.seed, s.plan.ID, s.seq), Invoke: record.Invoke,
		}
		s.seq++
		record.Records = append(record.Records, v)
		send.Records = append(send.Records, client.Record{
			Timestamp: now + r.Stamp, Key: keys[r.Key%len(keys)],
			Value: linearizability.AppendValue(nil, v, linearizability.ValueSizeBytes+r.Bytes),
		})
	}
	return send
}

// nonce makes a value that no other run and no garbage has.
func nonce(seed uint64, client int, seq int64) uint64 {
	var h digest.Hash
	h.Word(seed)
	h.Int(int64(client))
	h.Int(seq)
	sum := h.Sum()
	return binary.LittleEndian.Uint64(sum[:8])
}

// question draws what a lister asks.
func question(d draw, s *sim.Scheduler, partitions int32) *client.List {
	l := &client.List{
		Partition: kafka.PartitionID(d.Index(int(partitions))),
		Committed: d.Chance(1, 4),
	}
	switch d.Index(5) {
	case 0:
		l.Timestamp = kafka.LatestTimestamp
	case 1:
		l.Timestamp = kafka.EarliestTimestamp
	case 2:
		l.Timestamp = kafka.MaxTimestamp
	case 3:
		l.Timestamp = sim.WallEpochMs + d.Between(0, int64(s.Now()/sim.Millisecond)+1)
	default:
		l.Timestamp = kafka.LatestTimestamp
	}
	return l
}
