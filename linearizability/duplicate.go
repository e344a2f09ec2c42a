package linearizability

import (
	"fmt"

	"stet/core/kafka"
)

// checkDuplicate is H3. One value stands at one offset, for an idempotent producer and for a
// client that did not retry.
//
// Source: Jepsen's duplicate; P1 of checks.md for the same promise by sequence numbers.
// Cost: O(1) for each observation.
//
// Traps. The promise has bounds: at most five requests in flight, a producer id that has not
// expired, no unclean election. A scenario that leaves them does not mark its sends idempotent.
// A value may come again at another offset after an excuse took the first copy.
func checkDuplicate(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		first := map[Value]sighting{}
		inDump := map[dumpedValue]kafka.Offset{}
		v.sightings(p, func(s sighting) {
			if v.mayDuplicate(s.record.Value) {
				return
			}
			v.judgeDuplicate(p, r, first, s)
			if s.where.kind == fromDump {
				judgeTwiceInDump(v, p, r, inDump, s)
			}
		})
		r.count("values", int64(len(first)))
	}
}

// mayDuplicate says whether copies of the value are legal. Values that nobody sent are H5's.
func (v *view) mayDuplicate(value Value) bool {
	ref, ok := v.byValue[value]
	return !ok || v.history.Sends[ref.send].mayDuplicate()
}

func (v *view) judgeDuplicate(
	p *partitionView, r *Report, first map[Value]sighting, s sighting,
) {
	old, ok := first[s.record.Value]
	if !ok {
		first[s.record.Value] = s
		return
	}
	r.checked("seen-again", 1)
	if old.record.Offset == s.record.Offset {
		return
	}
	_, oldLost := p.lives.excuse(old.record.Offset, old.from)
	_, newLost := p.lives.excuse(s.record.Offset, s.from)
	if oldLost || newLost {
		r.count("moved-by-excuse", 1)
		first[s.record.Value] = s
		return
	}
	p.fails(r, fmt.Sprintf("%s stands at offsets %d and %d", s.record.Value,
		old.record.Offset, s.record.Offset),
		v.history.describe(old.where), v.history.describe(s.where))
}

// dumpedValue is a value in one dump: there, even the same offset twice is a second copy.
type dumpedValue struct {
	dump  int
	value Value
}

func judgeTwiceInDump(
	v *view, p *partitionView, r *Report, seen map[dumpedValue]kafka.Offset, s sighting,
) {
	key := dumpedValue{s.where.index, s.record.Value}
	if offset, ok := seen[key]; ok && offset == s.record.Offset {
		p.fails(r, fmt.Sprintf("%s is twice in one log at offset %d", s.record.Value, offset),
			v.history.describe(s.where))
	}
	seen[key] = s.record.Offset
}
