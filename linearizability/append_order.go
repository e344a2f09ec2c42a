package linearizability

import "fmt"

// checkAppendOrder is H6. If append A of a partition returned ok before append B of it was
// invoked, A stands at a lower offset than B.
//
// Source: linearizability of a log; the appends' half of the offset-guided checker, which it is
// complete for. Cost: O(n log n).
//
// Traps. Only an ok answer bounds an append from above; an unknown one that is in the log was
// appended at some time after its invocation. Appends that a loss excused are not in the order.
func checkAppendOrder(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		for i := range p.order.appends {
			if i > 0 && p.order.appends[i].ret != Never {
				r.checked("bounded", 1)
			}
		}
		for _, bad := range invertedAppends(p.order.appends) {
			lower, higher := p.order.appends[bad.first], p.order.appends[bad.second]
			p.fails(r, fmt.Sprintf("offset %d returned at step %d, before offset %d was invoked",
				higher.base, higher.ret, lower.base),
				v.history.describe(lower.where), v.history.describe(higher.where))
		}
	}
}

// inversion names two operations whose order in the log contradicts real time: the first comes
// first in the log, and was invoked after the second had returned.
type inversion struct{ first, second int }

// invertedAppends finds, for each append, whether it returned before some append at a lower offset
// was invoked. The running maximum of the invocations is enough: it names the worst partner.
func invertedAppends(appends []appendOp) []inversion {
	var bad []inversion
	latest := -1 // the append with the latest invocation so far
	for i, op := range appends {
		if latest >= 0 && op.ret < appends[latest].call {
			bad = append(bad, inversion{latest, i})
		}
		if latest < 0 || op.call > appends[latest].call {
			latest = i
		}
	}
	return bad
}
