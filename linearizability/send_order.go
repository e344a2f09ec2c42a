package linearizability

import (
	"cmp"
	"fmt"
	"slices"

	"stet/core/kafka"
)

// checkSendOrder is H7. The records of one send, and the sends of one session of a client, stand
// in a partition in the order in which the client sent them.
//
// Source: Jepsen's int-nonmonotonic-send and nonmonotonic-send. Cost: O(n log n), by the sort.
//
// Traps. A session is what the client may rely on (Send.Session): without idempotence a retry may
// legally overtake, so such sends are compared with others of their session only as long as they
// were not retried. A record that stands nowhere has no place to compare; one that is missing is
// H1's. Offsets of a life that was lost are not compared with those of the next.
func checkSendOrder(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		places := v.places(p)
		type session struct {
			client ClientID
			number int32
		}
		last := map[session]placed{}
		for _, i := range v.programOrder(p) {
			s := &v.history.Sends[i]
			first, end, ok := v.judgeInsideSend(p, r, places, i)
			if !ok || s.mayDuplicate() {
				continue
			}
			key := session{s.Client, s.Session}
			before, known := last[key]
			if known {
				r.checked("between-sends", 1)
				if first <= before.offset {
					p.fails(r, fmt.Sprintf("offset %d was sent after offset %d, in one session",
						first, before.offset),
						describeSend(&v.history.Sends[before.send]), describeSend(s))
				}
			}
			last[key] = placed{i, max(end, before.offset)}
		}
	}
}

// placed is the last record of a send and where it stands.
type placed struct {
	send   int
	offset kafka.Offset
}

// programOrder lists the sends of a partition in the order of their invocations. A client that
// invokes two in one step has recorded them in its order.
func (v *view) programOrder(p *partitionView) []int {
	ordered := slices.Clone(p.sends)
	slices.SortStableFunc(ordered, func(a, b int) int {
		return cmp.Compare(v.history.Sends[a].Invoke, v.history.Sends[b].Invoke)
	})
	return ordered
}

// places says where each value stands: in the final log, else where it was acknowledged, unless a
// loss took it from there. Of several legal copies the first counts.
func (v *view) places(p *partitionView) map[Value]kafka.Offset {
	at := make(map[Value]kafka.Offset, len(p.final.records))
	for _, found := range p.final.records {
		if _, ok := at[found.Value]; !ok {
			at[found.Value] = found.Offset
		}
	}
	v.acknowledgements(p, func(s sighting) {
		_, lost := p.lives.excuse(s.record.Offset, s.from)
		if _, ok := at[s.record.Value]; !ok && !lost {
			at[s.record.Value] = s.record.Offset
		}
	})
	return at
}

// judgeInsideSend compares the places of a send's own records, and returns the lowest and the
// highest of them.
func (v *view) judgeInsideSend(
	p *partitionView, r *Report, places map[Value]kafka.Offset, send int,
) (first, last kafka.Offset, ok bool) {
	s := &v.history.Sends[send]
	for k, value := range s.Records {
		offset, stands := places[value]
		if !stands {
			continue
		}
		if !ok {
			first, last, ok = offset, offset, true
			continue
		}
		r.checked("inside-send", 1)
		if offset <= last {
			p.fails(r, fmt.Sprintf("record %d of a send stands at offset %d, an earlier one at %d",
				k, offset, last), describeSend(s))
		}
		first, last = min(first, offset), max(last, offset)
	}
	return first, last, ok
}
