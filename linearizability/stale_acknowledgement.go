package linearizability

import (
	"fmt"
	"slices"

	"stet/core/kafka"
)

// checkStaleAcknowledgement is the part of H2 that concerns answers to sends: an acknowledgement
// names the offset at which the record is. It fails when anybody saw that offset carry another
// value, when two sends were told the same offset, and also when the record itself was seen, but
// only at other offsets. So it catches an answer from a stale cache (P3) even where the offset
// that it names was never read.
//
// Source: own; P3, and the "ABA acknowledgement" of the canaries. Cost: O(1) for each observation.
//
// Traps. A client without idempotence that retried may have its record at several offsets; one of
// them must be the acknowledged one. A record that was excused may legally be acknowledged at an
// offset that is bound anew later; the life of the offset decides.
func checkStaleAcknowledgement(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		j := acknowledgementJudge{
			v: v, p: p, r: r,
			told:   offsetTable{lives: &p.lives},
			seenAt: map[Value][]kafka.Offset{},
		}
		v.acknowledgements(p, j.acknowledged)
		v.sightings(p, j.seen)
		v.acknowledgements(p, j.elsewhere)
	}
}

type acknowledgementJudge struct {
	v *view
	p *partitionView
	r *Report
	// told binds offsets to the values that were acknowledged there, and to nothing else.
	told   offsetTable
	seenAt map[Value][]kafka.Offset
}

func (j *acknowledgementJudge) acknowledged(s sighting) {
	if other, ok := j.told.observe(s); !ok {
		j.differs(s.record.Offset, other, s)
	}
}

// seen compares a record that was seen with what was acknowledged at its offset.
func (j *acknowledgementJudge) seen(s sighting) {
	at := s.record.Offset
	j.seenAt[s.record.Value] = append(j.seenAt[s.record.Value], at)
	first, last := j.p.lives.span(at, s.from, s.to)
	var conflict binding
	for life := first; life <= last; life++ {
		told, ok := j.told.bound[slot{at, life}]
		if !ok {
			return
		}
		if told.value == s.record.Value {
			j.r.checked("offset-seen", 1)
			return
		}
		conflict = told
	}
	j.r.checked("offset-seen", 1)
	j.differs(at, conflict, s)
}

func (j *acknowledgementJudge) differs(at kafka.Offset, told binding, s sighting) {
	j.p.fails(j.r, fmt.Sprintf("offset %d was acknowledged for %s and is %s", at, told.value,
		s.record.Value), j.v.history.describe(told.where), j.v.history.describe(s.where))
}

// elsewhere fails when the acknowledged record was seen, and never at the acknowledged offset.
func (j *acknowledgementJudge) elsewhere(s sighting) {
	at := j.seenAt[s.record.Value]
	_, lost := j.p.lives.excuse(s.record.Offset, s.from)
	if len(at) == 0 || lost || j.copyMayBeGone(s) {
		return
	}
	j.r.checked("value-seen", 1)
	if !slices.Contains(at, s.record.Offset) {
		j.p.fails(j.r, fmt.Sprintf("%s was acknowledged at offset %d and is at %d",
			s.record.Value, s.record.Offset, at[0]), j.v.history.describe(s.where))
	}
}

// copyMayBeGone says whether the acknowledged copy may have been deleted unseen, while another
// legal copy was seen.
func (j *acknowledgementJudge) copyMayBeGone(s sighting) bool {
	gone := s.record.Offset < j.p.logStart || j.p.info.Compacted
	return gone && j.v.mayDuplicate(s.record.Value)
}
