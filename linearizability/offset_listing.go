package linearizability

import (
	"fmt"

	"stet/core/kafka"
)

// checkOffsetListing is H11. ListOffsets answers, for
//
//   - latest: never less than an earlier answer of the current leader, never less than an
//     acknowledged offset + 1, never more than the true end;
//   - earliest: never less than an earlier answer, nor less than where the log began, nor more
//     than what was legally deleted;
//   - a time: the first record at or above the log start whose timestamp is at least that;
//   - max timestamp: a record that has the largest timestamp, and the first one that has it.
//
// Source: Redpanda's list_offsets verifier, KAFKA-5522, KIP-207, KIP-734. Cost: O(n log n), and
// for each query by time a scan of the final log.
//
// Traps. A leader whose high watermark has not reached the start of its epoch answers
// OFFSET_NOT_AVAILABLE: an error is no answer. A deposed leader may answer anything old. An
// acks=1 answer may come before the high watermark. Timestamps are not monotonic.
func checkOffsetListing(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		v.checkLatest(p, r)
		v.checkEarliest(p, r)
		byTime := v.newTimeJudge(p, r)
		for _, i := range p.lists {
			l := &v.history.Lists[i]
			if !answered(l) {
				continue
			}
			switch {
			case l.Timestamp >= 0:
				byTime.judgeTime(i)
			case l.Timestamp == kafka.MaxTimestamp:
				byTime.judgeMaxTimestamp(i)
			}
		}
	}
}

// answered says whether the query got an offset from a broker that led when it answered.
func answered(l *ListOffsets) bool {
	return l.Return != 0 && l.Code == kafka.None && !l.Deposed
}

// checkLatest sweeps over time and keeps the floor below which no later answer may fall.
func (v *view) checkLatest(p *partitionView, r *Report) {
	s := newSweep(p)
	for _, i := range p.sends {
		send := &v.history.Sends[i]
		if v.outcomes[i] == Ok && v.bases[i] >= 0 && send.mustSurvive() && send.Return != 0 {
			end := v.bases[i] + kafka.Offset(len(send.Records))
			s.add(send.Invoke, send.Return, end, source{fromSend, i}, false)
		}
	}
	for _, i := range p.lists {
		l := &v.history.Lists[i]
		// Read-committed answers stop at an open transaction, so acknowledged offsets do not
		// bound them from below, and they bound nothing.
		if answered(l) && l.Timestamp == kafka.LatestTimestamp && l.Isolation == ReadUncommitted {
			s.add(l.Invoke, l.Return, l.Offset, source{fromList, i}, true)
		}
	}
	s.run(func(bad fallen) {
		p.fails(r, fmt.Sprintf("latest answers %d, after %d was told", bad.got, bad.floor),
			v.history.describe(bad.earlier), v.history.describe(bad.later))
	})
	r.checked("latest", s.judged)
	for _, i := range p.lists {
		v.judgeLatestBound(p, r, i)
	}
}

// judgeLatestBound compares an answer with the true end: the ghost's, or that of the final log,
// which is the largest end there ever was unless a loss took some of it.
func (v *view) judgeLatestBound(p *partitionView, r *Report, index int) {
	l := &v.history.Lists[index]
	if l.Return == 0 || l.Code != kafka.None || l.Timestamp != kafka.LatestTimestamp {
		return
	}
	bound := kafka.NoOffset
	if p.final.known && len(p.lives.excuses) == 0 {
		bound = p.final.end
	}
	if l.Ghost != nil && l.Ghost.HighWatermark >= 0 {
		bound = l.Ghost.HighWatermark
		if l.Isolation == ReadCommitted && l.Ghost.LastStableOffset >= 0 {
			bound = l.Ghost.LastStableOffset
		}
	}
	if bound < 0 {
		return
	}
	r.checked("latest-bound", 1)
	if l.Offset > bound {
		p.fails(r, fmt.Sprintf("latest answers %d, the true end is %d", l.Offset, bound),
			describeList(l))
	}
}

// checkEarliest judges the answers to earliest. A log start that goes back undoes a deletion.
func (v *view) checkEarliest(p *partitionView, r *Report) {
	s := sweep{lives: &lives{}}
	for _, i := range p.lists {
		l := &v.history.Lists[i]
		if !answered(l) || l.Timestamp != kafka.EarliestTimestamp {
			continue
		}
		s.add(l.Invoke, l.Return, l.Offset, source{fromList, i}, true)
		low, high := p.info.FirstOffset, p.logStartAt(l.Return)
		if l.Ghost != nil && l.Ghost.LogStart >= 0 {
			high = l.Ghost.LogStart
		}
		if l.Offset < low || l.Offset > high {
			p.fails(r, fmt.Sprintf("earliest answers %d, the log start is in [%d, %d]", l.Offset,
				low, high), describeList(l))
		}
	}
	s.run(func(bad fallen) {
		p.fails(r, fmt.Sprintf("earliest answers %d, after %d was told", bad.got, bad.floor),
			v.history.describe(bad.earlier), v.history.describe(bad.later))
	})
	r.checked("earliest", s.judged)
}
