package linearizability

import (
	"fmt"
	"slices"

	"stet/core/kafka"
)

// checkStaleAcknowledgement is the part of H2 that concerns answers to sends: an acknowledgement
// names the offset at which the record is. It fails when the offset was seen to carry another
// value, and also when the record itself was seen, but only at other offsets. So it catches an
// answer from a stale cache (P3) even where the offset that it names was never read.
//
// Source: own; P3 and the "ABA acknowledgement" of the canaries. Cost: O(n).
//
// Traps. A client without idempotence that retried may have its record at several offsets; one of
// them must be the acknowledged one. A record that was excused may legally be acknowledged at an
// offset that is bound anew later; the life of the offset decides.
func checkStaleAcknowledgement(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		table := offsetTable{lives: &p.lives}
		seenAt := map[Value][]kafka.Offset{}
		v.sightings(p, func(s sighting) {
			table.observe(s)
			seenAt[s.record.Value] = append(seenAt[s.record.Value], s.record.Offset)
		})
		v.acknowledgements(p, func(s sighting) {
			v.judgeAcknowledgement(p, r, &table, seenAt[s.record.Value], s)
		})
	}
}

func (v *view) judgeAcknowledgement(
	p *partitionView, r *Report, seen *offsetTable, at []kafka.Offset, s sighting,
) {
	offset := s.record.Offset
	first, last := p.lives.span(offset, s.from, s.to)
	if other, ok := seen.bound[slot{offset, first}]; ok && first == last {
		r.checked("offset-seen", 1)
		if other.value != s.record.Value {
			p.fails(r, fmt.Sprintf("acknowledged offset %d of %s carries %s", offset,
				s.record.Value, other.value),
				v.history.describe(s.where), v.history.describe(other.where))
		}
		return
	}
	_, lost := p.lives.excuse(offset, s.from)
	if len(at) == 0 || lost {
		return
	}
	r.checked("value-seen", 1)
	if slices.Contains(at, offset) {
		return
	}
	p.fails(r, fmt.Sprintf("%s was acknowledged at offset %d and is at %d", s.record.Value,
		offset, at[0]), v.history.describe(s.where))
}
