package linearizability

import (
	"fmt"

	"stet/core/kafka"
)

// checkInconsistentOffset is H2. Over the whole run, an offset of a partition holds one value: in
// every acknowledgement, every poll of any replica, and every dump.
//
// Source: Jepsen's inconsistent-offsets. Cost: O(1) for each observation, online (see Monitor).
//
// Traps. A gap is legal: control records, compaction, aborted records that a read-committed poll
// leaves out. Stale reads are legal, stale contents are not. No excuse exempts an offset; an
// excuse begins the next life of the offsets that it covers, and within each life the offset
// holds one value. An observation that overlaps the loss may have seen either life.
func checkInconsistentOffset(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		table := offsetTable{lives: &p.lives}
		observe := func(s sighting) {
			if other, ok := table.observe(s); !ok {
				p.fails(r, fmt.Sprintf("offset %d holds %s and %s", s.record.Offset,
					other.value, s.record.Value),
					v.history.describe(other.where), v.history.describe(s.where))
			}
		}
		v.sightings(p, observe)
		v.acknowledgements(p, observe)
		r.checked("compared", table.compared)
		r.count("bound", int64(len(table.bound)))
	}
}

// offsetTable binds each life of each offset to the first value that was seen there.
type offsetTable struct {
	lives    *lives
	bound    map[slot]binding
	compared int64 // observations of a slot that was bound before
}

// slot is one life of one offset.
type slot struct {
	offset kafka.Offset
	life   int
}

type binding struct {
	value Value
	where source
}

// observe compares a sighting with what its slot is bound to, and binds the slot if it is free.
// It returns the binding that conflicts.
func (t *offsetTable) observe(s sighting) (binding, bool) {
	if t.bound == nil {
		t.bound = map[slot]binding{}
	}
	first, last := t.lives.span(s.record.Offset, s.from, s.to)
	var conflict binding
	for life := first; life <= last; life++ {
		b, ok := t.bound[slot{s.record.Offset, life}]
		switch {
		case !ok && first == last:
			t.bound[slot{s.record.Offset, life}] = binding{s.record.Value, s.where}
			return binding{}, true
		case !ok: // it may belong to this life, of which nothing else is known
			return binding{}, true
		case b.value == s.record.Value:
			t.compared++
			return binding{}, true
		}
		conflict = b
	}
	t.compared++
	return conflict, false
}
