package linearizability

import "stet/core/kafka"

// sighting is one record seen by a committed read or found in the committed part of a dump, with
// the interval in which the log held it.
type sighting struct {
	record   Observed
	from, to Step
	where    source
}

// sightings calls yield for every record of the partition that polls and dumps show, polls first.
//
// Trap: a replica's log may legally diverge above its own high watermark until it truncates, so a
// dump is evidence only below it. A poll is bounded by the broker's high watermark already; that
// it is bounded by the true one is H9's question.
func (v *view) sightings(p *partitionView, yield func(sighting)) {
	for _, i := range p.polls {
		poll := &v.history.Polls[i]
		if poll.Return == 0 {
			continue
		}
		for _, r := range poll.Records {
			yield(sighting{r, poll.Invoke, poll.Return, source{fromPoll, i}})
		}
	}
	for _, i := range p.dumps {
		dump := &v.history.Dumps[i]
		for _, r := range dump.Records {
			if dump.HighWatermark < 0 || r.Offset < dump.HighWatermark {
				yield(sighting{r, dump.Step, dump.Step, source{fromDump, i}})
			}
		}
	}
}

// acknowledgements calls yield for every record of the partition that was answered ok with an
// offset.
//
// Trap: with several replicas an acks=1 answer promises nothing, and the offset may be given
// again after the leader's tail was truncated. Such an answer counts only if its record was seen
// somewhere, for then it was not truncated. With one replica acks=1 binds as acks=all does.
func (v *view) acknowledgements(p *partitionView, yield func(sighting)) {
	var seen map[Value]bool
	for _, i := range p.sends {
		s, base := &v.history.Sends[i], v.bases[i]
		if v.outcomes[i] != Ok || base < 0 {
			continue
		}
		weak := !s.mustSurvive() && p.info.Replicas != 1
		if weak && seen == nil {
			seen = map[Value]bool{}
			v.sightings(p, func(s sighting) { seen[s.record.Value] = true })
		}
		for k, value := range s.Records {
			if weak && !seen[value] {
				continue
			}
			record := Observed{base + kafka.Offset(k), value, kafka.NoTimestamp}
			yield(sighting{record, s.Invoke, orNever(s.Return), source{fromSend, i}})
		}
	}
}
