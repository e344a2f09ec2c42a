package linearizability

import "fmt"

// checkGarbageRead is H5. A record that is read was sent: by a send of this history, to this
// partition of this topic id, and not after the read had returned.
//
// Source: own; the last part is "a read from the future" in the sense of linearizability.
// Cost: O(1) for each observation.
//
// Traps. Nothing exempts from this check, no excuse and no deletion. A history must hold every
// send, the open ones too, or their records look like garbage.
func checkGarbageRead(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		v.sightings(p, func(s sighting) {
			r.checked("records-seen", 1)
			if what, evidence := v.garbage(p, s); what != "" {
				p.fails(r, what, append(evidence, v.history.describe(s.where))...)
			}
		})
	}
}

// garbage says what is wrong with a record that was seen, "" when nothing is.
func (v *view) garbage(p *partitionView, s sighting) (what string, evidence []string) {
	ref, ok := v.byValue[s.record.Value]
	if !ok {
		return fmt.Sprintf("offset %d shows %s, which nobody sent", s.record.Offset,
			s.record.Value), nil
	}
	send := &v.history.Sends[ref.send]
	evidence = []string{describeSend(send)}
	switch {
	case send.Partition != p.name:
		return fmt.Sprintf("offset %d shows %s, which was sent to %s", s.record.Offset,
			s.record.Value, send.Partition), evidence
	case s.to < send.Invoke:
		return fmt.Sprintf("offset %d shows %s at step %d, before it was sent", s.record.Offset,
			s.record.Value, s.to), evidence
	}
	return "", nil
}
