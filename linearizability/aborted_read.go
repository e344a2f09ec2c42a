package linearizability

import "fmt"

// checkAbortedRead is H4. A record of a send that failed for certain is never shown to a committed
// read, and is not in the committed log.
//
// Source: G1a of Adya, as Jepsen's kafka workload checks it. Cost: O(1) for each observation.
//
// Traps. Everything rests on the classes of outcomes: an unknown outcome that becomes visible
// later is legal, and most error codes are unknown (ClassifyAttempt). A violation therefore means
// that a broker appended after it had refused, or that it gives a code before the append that the
// table takes for a refusal.
func checkAbortedRead(v *view, r *Report, _ Options) {
	for i, outcome := range v.outcomes {
		if outcome == Fail {
			r.checked("failed", int64(len(v.history.Sends[i].Records)))
		}
	}
	for _, p := range v.partitions {
		v.sightings(p, func(s sighting) {
			r.count("records-seen", 1)
			ref, ok := v.byValue[s.record.Value]
			if !ok || v.outcomes[ref.send] != Fail {
				return
			}
			p.fails(r, fmt.Sprintf("value %s of a failed send is visible at offset %d",
				s.record.Value, s.record.Offset),
				describeSend(&v.history.Sends[ref.send]), v.history.describe(s.where))
		})
	}
}
