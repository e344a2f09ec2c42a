package shrink

import (
	"reflect"
	"slices"

	"stet/core/kafka"
	"stet/core/record"
	"stet/scenarios/schedule"
	"stet/sim"
)

// set appends an edit that sets a value, unless it is set so already. at finds it in a clone.
func set[T any](edits []edit, s *schedule.Schedule, to T, at func(*schedule.Schedule) *T) []edit {
	if reflect.DeepEqual(*at(s), to) {
		return edits
	}
	return append(edits, func(c *schedule.Schedule) { *at(c) = to })
}

// resetEnd lists edits that have the run end soon.
func resetEnd(s *schedule.Schedule) (edits []edit) {
	edits = set(edits, s, sim.Second, func(s *schedule.Schedule) *sim.Time { return &s.End.Idle })
	return set(edits, s, false, func(s *schedule.Schedule) *bool { return &s.End.CleanStop })
}

// resetClients lists edits that set what clients do as plainly as can be.
func resetClients(s *schedule.Schedule) (edits []edit) {
	edits = set(edits, s, sim.Interval{Low: 10 * sim.Millisecond, High: 10 * sim.Millisecond},
		func(s *schedule.Schedule) *sim.Interval { return &s.Clients.Pause })
	edits = set(edits, s, sim.Interval{Low: sim.Second, High: sim.Second},
		func(s *schedule.Schedule) *sim.Interval { return &s.Clients.Impatience })
	for i := range s.Producers {
		edits = resetProducer(edits, s, i)
	}
	for i := range s.Consumers {
		edits = resetConsumer(edits, s, i)
	}
	return edits
}

func resetProducer(edits []edit, s *schedule.Schedule, i int) []edit {
	p := func(s *schedule.Schedule) *schedule.Producer { return &s.Producers[i] }
	edits = set(edits, s, record.None, func(s *schedule.Schedule) *record.Codec { return &p(s).Codec })
	edits = set(edits, s, -1, func(s *schedule.Schedule) *int16 { return &p(s).Acks })
	edits = set(edits, s, 1, func(s *schedule.Schedule) *int { return &p(s).InFlight })
	edits = set(edits, s, 1, func(s *schedule.Schedule) *int { return &p(s).Attempts })
	edits = set(edits, s, 100*sim.Second, func(s *schedule.Schedule) *sim.Time { return &p(s).GiveUp })
	edits = set(edits, s, false, func(s *schedule.Schedule) *bool { return &p(s).PipelinedRetries })
	edits = set(edits, s, false, func(s *schedule.Schedule) *bool { return &p(s).AcrossPartitions })
	edits = set(edits, s, 30_000, func(s *schedule.Schedule) *int32 { return &p(s).AckTimeoutMs })
	if c := p(s); c.Idempotent || c.FirstSequence != 0 {
		edits = append(edits, func(s *schedule.Schedule) { p(s).Idempotent, p(s).FirstSequence = false, 0 })
	}
	if p(s).FirstSequence != 0 {
		edits = append(edits, func(s *schedule.Schedule) { p(s).FirstSequence = 0 })
	}
	return edits
}

func resetConsumer(edits []edit, s *schedule.Schedule, i int) []edit {
	c := func(s *schedule.Schedule) *schedule.Consumer { return &s.Consumers[i] }
	edits = set(edits, s, false, func(s *schedule.Schedule) *bool { return &c(s).Committed })
	edits = set(edits, s, false, func(s *schedule.Schedule) *bool { return &c(s).Sessions })
	edits = set(edits, s, false, func(s *schedule.Schedule) *bool { return &c(s).FromLatest })
	edits = set(edits, s, 10, func(s *schedule.Schedule) *int32 { return &c(s).MaxWaitMs })
	edits = set(edits, s, 1, func(s *schedule.Schedule) *int32 { return &c(s).MinBytes })
	edits = set(edits, s, 1<<20, func(s *schedule.Schedule) *int32 { return &c(s).MaxBytes })
	edits = set(edits, s, 1<<20, func(s *schedule.Schedule) *int32 { return &c(s).PartitionMaxBytes })
	return set(edits, s, sim.Interval{Low: 10 * sim.Millisecond, High: 10 * sim.Millisecond},
		func(s *schedule.Schedule) *sim.Interval { return &c(s).Pace })
}

// highSequences lists edits that have producers begin as late as they can of those that do not begin
// at 0: what happens when sequences wrap happens with fewer sends.
func highSequences(s *schedule.Schedule) (edits []edit) {
	for i := range s.Producers {
		at := func(s *schedule.Schedule) *kafka.Sequence { return &s.Producers[i].FirstSequence }
		for _, n := range []kafka.Sequence{0, 1, 3, 10, 30} {
			if first := 1<<31 - 1 - n; *at(s) != 0 && *at(s) < first {
				edits = append(edits, func(s *schedule.Schedule) { *at(s) = first })
			}
		}
	}
	return edits
}

// plainSends lists edits that have sends come at once, and with one empty record of now.
func plainSends(s *schedule.Schedule) (edits []edit) {
	for i := range s.Producers {
		for j := range s.Producers[i].Sends {
			at := func(s *schedule.Schedule) *schedule.Send { return &s.Producers[i].Sends[j] }
			edits = plainSend(edits, s, at)
		}
	}
	return edits
}

// plainRecord is a record without anything to say.
var plainRecord = schedule.Record{Bytes: 0, Stamp: 0, Key: 0}

func plainSend(edits []edit, s *schedule.Schedule, at func(*schedule.Schedule) *schedule.Send) []edit {
	send := at(s)
	edits = set(edits, s, 0, func(s *schedule.Schedule) *sim.Time { return &at(s).After })
	if send.After > sim.Millisecond && send.After%sim.Millisecond != 0 {
		edits = append(edits, func(s *schedule.Schedule) { at(s).After -= at(s).After % sim.Millisecond })
	}
	if len(send.Records) > 1 {
		edits = append(edits, func(s *schedule.Schedule) {
			at(s).Records = slices.Clone(at(s).Records[:1])
		})
	}
	values := func(to func(*schedule.Record)) {
		same := true
		for _, r := range send.Records {
			plain := r
			to(&plain)
			same = same && plain == r
		}
		if same {
			return
		}
		edits = append(edits, func(s *schedule.Schedule) {
			records := slices.Clone(at(s).Records)
			for k := range records {
				to(&records[k])
			}
			at(s).Records = records
		})
	}
	values(func(r *schedule.Record) { r.Stamp = plainRecord.Stamp })
	values(func(r *schedule.Record) { r.Key = plainRecord.Key })
	values(func(r *schedule.Record) { r.Bytes = plainRecord.Bytes })
	return edits
}
