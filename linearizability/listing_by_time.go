package linearizability

import (
	"fmt"

	"stet/core/kafka"
)

// timeJudge judges the ListOffsets queries that look at timestamps, against the final log. A
// record of the final log that was acknowledged before a query was invoked was there for it; so was
// each record below one that the query answered with.
type timeJudge struct {
	v *view
	p *partitionView
	r *Report
	// acknowledged is, for each record of the final log, when its send was known to be done.
	acknowledged []Step
}

func (v *view) newTimeJudge(p *partitionView, r *Report) timeJudge {
	j := timeJudge{v: v, p: p, r: r}
	for _, found := range p.final.records {
		done := Never
		if ref, ok := v.byValue[found.Value]; ok {
			send := &v.history.Sends[ref.send]
			if send.mustSurvive() && v.acknowledgedAt(ref, found.Offset) {
				done = orNever(send.Return)
			}
		}
		j.acknowledged = append(j.acknowledged, done)
	}
	return j
}

// judgeable leaves out what the final log can not decide: a log without one, or one that lost
// records since, and compaction, which may take the answer away.
func (j timeJudge) judgeable(l *ListOffsets) bool {
	if !j.p.final.known || j.p.info.Compacted {
		return false
	}
	return j.p.lives.clamp(kafka.Offset(1<<62), l.Invoke, Never) == 1<<62
}

func (j timeJudge) judgeTime(index int) {
	l := &j.v.history.Lists[index]
	if !j.judgeable(l) {
		return
	}
	j.r.checked("by-time", 1)
	matches := func(r Observed) bool { return r.Timestamp >= l.Timestamp }
	if l.Offset < 0 {
		j.judgeNone(l, matches)
		return
	}
	answer, ok := j.answer(l)
	if !ok {
		return
	}
	if answer.Timestamp < l.Timestamp {
		j.p.fails(j.r, "the answer is older than the time asked for", describeRecord(answer),
			describeList(l))
	}
	j.judgeFirst(l, "has that time too, and comes first", matches)
}

func (j timeJudge) judgeMaxTimestamp(index int) {
	l := &j.v.history.Lists[index]
	if !j.judgeable(l) {
		return
	}
	j.r.checked("max-timestamp", 1)
	if l.Offset < 0 {
		j.judgeNone(l, func(Observed) bool { return true })
		return
	}
	answer, ok := j.answer(l)
	if !ok {
		return
	}
	newer := func(r Observed) bool { return r.Timestamp > answer.Timestamp }
	j.judgeFirst(l, "has a larger timestamp, and comes first", newer)
	for i, found := range j.p.final.records {
		if newer(found) && found.Offset > l.Offset && j.acknowledged[i] < l.Invoke {
			j.p.fails(j.r, fmt.Sprintf("offset %d has a larger timestamp", found.Offset),
				describeRecord(found), describeList(l))
			return
		}
	}
}

// judgeNone judges the answer that there is no such record: none may have been acknowledged
// before the query.
func (j timeJudge) judgeNone(l *ListOffsets, matches func(Observed) bool) {
	for i, found := range j.p.final.records {
		if matches(found) && j.acknowledged[i] < l.Invoke {
			j.p.fails(j.r, fmt.Sprintf("no record is answered, offset %d is one", found.Offset),
				describeRecord(found), describeList(l))
			return
		}
	}
}

// answer finds the record that was answered with. It says false when there is nothing to compare
// with, because the record was deleted since, or because it is wrong already.
func (j timeJudge) answer(l *ListOffsets) (Observed, bool) {
	if g := l.Ghost; g != nil && g.HighWatermark >= 0 && l.Offset >= g.HighWatermark {
		j.p.fails(j.r, fmt.Sprintf("offset %d is answered, the true high watermark is %d", l.Offset,
			g.HighWatermark), describeList(l))
		return Observed{}, false
	}
	answer, ok := j.p.final.at[l.Offset]
	if !ok {
		if l.Offset >= j.p.logStart {
			j.p.fails(j.r, fmt.Sprintf("offset %d is answered, and holds no record", l.Offset),
				describeList(l))
		}
		return Observed{}, false
	}
	if answer.Timestamp != l.AnswerStamp {
		j.p.fails(j.r, fmt.Sprintf("timestamp %d is answered for offset %d", l.AnswerStamp,
			l.Offset), describeRecord(answer), describeList(l))
		return Observed{}, false
	}
	return answer, true
}

// judgeFirst fails when a record below the answer would have been the right one. It was in the log
// when the answer was given, because it stands below; that it was not deleted is known, because
// it is in the final log.
func (j timeJudge) judgeFirst(l *ListOffsets, what string, better func(Observed) bool) {
	for _, found := range j.p.final.records {
		if found.Offset >= l.Offset {
			return
		}
		if better(found) {
			j.p.fails(j.r, fmt.Sprintf("offset %d %s", found.Offset, what),
				describeRecord(found), describeList(l))
			return
		}
	}
}
