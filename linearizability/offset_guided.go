package linearizability

import (
	"cmp"
	"fmt"
	"slices"

	"stet/core/kafka"
)

// checkOffsetGuided is the complete checker of A4. The order of a partition's appends is known
// from their offsets, and a read that saw end e stands between append e-1 and append e. That order
// is a linearization exactly when no pair of it contradicts real time; looking for such a pair
// takes one sort and running maxima, O(n log n).
//
// Source: own, after Gobekli (Redpanda, "Validating consistency"), which is also streaming.
//
// Traps. A Kafka fetch is not strictly linearizable: a deposed leader still serves its old prefix,
// and the high watermark of a new one lags. So the end of the log may go back from one fetch to
// the next, and fetches are judged by the relaxed question: nothing is shown before it was sent.
// Only ListOffsets latest of the current leader is protected (KIP-207), and judged strictly.
func checkOffsetGuided(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		r.checked("appends", int64(len(p.order.appends)))
		r.checked("reads", int64(len(p.order.reads)))
		relaxed, strict := p.order.relaxedViolations(), p.order.strictViolations()
		// Porcupine answers only the relaxed question; the counter lets the two be compared.
		r.count(RelaxedInversions, int64(len(relaxed)))
		for _, bad := range slices.Concat(relaxed, strict) {
			p.fails(r, bad.what, v.history.describe(bad.first), v.history.describe(bad.second))
		}
	}
}

// RelaxedInversions is the counter of the offset-guided checker's violations of the relaxed
// question. It is zero exactly when Porcupine finds a linearization.
const RelaxedInversions = "relaxed-inversions"

// disorder is a pair of operations that no linearization can hold.
type disorder struct {
	what          string
	first, second source
}

// relaxedViolations answers the relaxed question: appends in offset order, and each read somewhere
// after the appends that it saw. Both halves are complete together: a read can be placed just
// before the first append that was invoked after it returned, and that place is after all that it
// saw unless one of those was invoked too late.
func (o *order) relaxedViolations() []disorder {
	var bad []disorder
	for _, i := range invertedAppends(o.appends) {
		lower, higher := o.appends[i.first], o.appends[i.second]
		bad = append(bad, disorder{fmt.Sprintf(
			"offset %d returned at step %d, before offset %d was invoked at step %d",
			higher.base, higher.ret, lower.base, lower.call), lower.where, higher.where})
	}
	latest := latestCalls(o.appends)
	for _, read := range o.reads {
		below := o.rank(read)
		if below == 0 {
			continue
		}
		if worst := o.appends[latest[below-1]]; read.ret < worst.call {
			bad = append(bad, disorder{fmt.Sprintf(
				"a read returned at step %d with end %d, offset %d was invoked at step %d",
				read.ret, read.end, worst.base, worst.call), worst.where, read.where})
		}
	}
	return bad
}

// rank is the number of appends that a read saw: those that begin below its end. Ranks stand for
// offsets wherever a log has gaps.
func (o *order) rank(read readOp) int {
	at, _ := slices.BinarySearchFunc(o.appends, read, func(a appendOp, r readOp) int {
		return cmp.Compare(a.base, r.end)
	})
	return at
}

// rankWhole is the number of appends that a read saw to their ends. The high watermark never stands
// inside a batch, so a strict read that ends there has not seen the append.
func (o *order) rankWhole(read readOp) int {
	below := o.rank(read)
	for below > 0 {
		last := o.appends[below-1]
		if last.base+kafka.Offset(last.count) <= read.end {
			break
		}
		below--
	}
	return below
}

// latestCalls gives, for each append, which one of it and those below was invoked last.
func latestCalls(appends []appendOp) []int {
	latest := make([]int, len(appends))
	for i := range appends {
		latest[i] = i
		if i > 0 && appends[latest[i-1]].call >= appends[i].call {
			latest[i] = latest[i-1]
		}
	}
	return latest
}

// earliestReturns gives, for each append, which one of it and those above returned first. Weak
// appends count as never returned: their answer does not promise that a read shows them.
func earliestReturns(appends []appendOp) []int {
	earliest := make([]int, len(appends))
	for i := len(appends) - 1; i >= 0; i-- {
		earliest[i] = i
		if i+1 < len(appends) && strictReturn(appends[earliest[i+1]]) <= strictReturn(appends[i]) {
			earliest[i] = earliest[i+1]
		}
	}
	return earliest
}

func strictReturn(a appendOp) Step {
	if a.weak {
		return Never
	}
	return a.ret
}

// strictViolations answers what the relaxed question leaves open of the strict reads: each stands
// exactly at its end. So no append at or above it may have returned before the read was invoked,
// and no strict read with a lower end may have been invoked after it returned.
func (o *order) strictViolations() []disorder {
	reads := slices.DeleteFunc(slices.Clone(o.reads), func(r readOp) bool { return !r.strict })
	slices.SortStableFunc(reads, func(a, b readOp) int {
		return cmp.Or(cmp.Compare(o.rank(a), o.rank(b)), cmp.Compare(a.call, b.call))
	})
	var bad []disorder
	earliest := earliestReturns(o.appends)
	latest := -1
	for i, read := range reads {
		if below := o.rankWhole(read); below < len(o.appends) {
			first := o.appends[earliest[below]]
			if strictReturn(first) < read.call {
				bad = append(bad, disorder{fmt.Sprintf(
					"offset %d was acknowledged at step %d, end %d was read from step %d on",
					first.base, first.ret, read.end, read.call), first.where, read.where})
			}
		}
		if latest >= 0 && read.ret < reads[latest].call {
			bad = append(bad, disorder{
				fmt.Sprintf("end %d was read by step %d, end %d from step %d on",
					read.end, read.ret, reads[latest].end, reads[latest].call),
				read.where, reads[latest].where,
			})
		}
		if latest < 0 || read.call > reads[latest].call {
			latest = i
		}
	}
	return bad
}
