package linearizability

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// checkPorcupine asks Porcupine the relaxed question, independently of the offset-guided checker:
// is there an order of a partition's appends and reads that respects real time, in which each
// append gets the next offset and each read sees an end that is not beyond the log's?
//
// Source: A4 of checks.md; resolving unknown outcomes first is etcd's patch_history.go, bounding
// their return is its uniqueOperationReturnTime. Cost: tens of milliseconds for 2,000 operations
// of 10 clients; exponential in the worst case, hence the rules:
//
//   - An unknown append is resolved from the final log before the call, or dropped. One that is
//     unresolved is never handed over.
//   - Reads are relaxed. Strict reads, which cost backtracking, are the offset-guided checker's.
//   - The history is cut at quiescent points into pieces of about pieceCount operations.
//   - Running out of time is a violation, never a pass.
func checkPorcupine(v *view, r *Report, options Options) {
	for _, p := range v.partitions {
		for _, piece := range cutAtQuiescence(p.order.operations(), pieceCount) {
			r.checked("operations", int64(len(piece.operations)))
			r.count("pieces", 1)
			result := piece.check(relaxedStep, options.PorcupineTimeout)
			if result == porcupine.Ok {
				continue
			}
			first := piece.operations[0]
			p.fails(r, fmt.Sprintf("%s: %d operations from step %d to %d, state %d", result,
				len(piece.operations), first.call, piece.lastReturn(), piece.rank),
				v.history.describe(first.where))
		}
	}
}

// pieceCount is the number of operations after which a piece ends at the next quiescent point.
const pieceCount = 1000

// rankedOp is an operation in the terms of the model. The state is the number of appends that have
// taken place, so ranks replace offsets, and the gaps of a log vanish.
type rankedOp struct {
	isAppend  bool
	rank      int // of an append: how many are below it; of a read: how many it saw
	call, ret Step
	where     source
}

// operations gives the order's operations by invocation, appends bounded.
func (o *order) operations() []rankedOp {
	ops := make([]rankedOp, 0, len(o.appends)+len(o.reads))
	for i, a := range o.appends {
		ops = append(ops, rankedOp{true, i, a.call, a.ret, a.where})
	}
	for _, read := range o.reads {
		ops = append(ops, rankedOp{false, o.rank(read), read.call, read.ret, read.where})
	}
	boundReturns(ops, len(o.appends))
	slices.SortStableFunc(ops, func(a, b rankedOp) int { return cmp.Compare(a.call, b.call) })
	return ops
}

// boundReturns lowers the returns of the first appendCount operations, which are the appends by
// rank. An append takes place before any with a higher offset, and before any read that saw it; so
// it may as well have returned when the first of those did. This keeps appends of unknown outcome
// from being concurrent with everything after them. It changes no answer.
func boundReturns(ops []rankedOp, appendCount int) {
	bound := make([]Step, appendCount+1) // bound[k]: for the append of rank k-1
	for k := range bound {
		bound[k] = Never
	}
	for _, op := range ops[appendCount:] {
		bound[op.rank] = min(bound[op.rank], op.ret)
	}
	earliest := bound[appendCount]
	for k := appendCount - 1; k >= 0; k-- {
		own := ops[k].ret
		// A bound below the invocation is a contradiction, which Porcupine shall find itself.
		ops[k].ret = max(min(own, earliest), ops[k].call)
		earliest = min(earliest, own, bound[k])
	}
}

// piece is a part of a history between two quiescent points, at which no operation is open. rank
// is the number of appends before it.
type piece struct {
	rank       int
	operations []rankedOp
}

// cutAtQuiescence cuts operations, which are in the order of their calls, into pieces of at least
// size operations where the history has quiescent points, and larger ones where it has none.
func cutAtQuiescence(ops []rankedOp, size int) []piece {
	var pieces []piece
	start, rank, busyUntil := 0, 0, Step(0)
	cut := func(end int) {
		if end == start {
			return
		}
		pieces = append(pieces, piece{rank, ops[start:end]})
		for _, op := range ops[start:end] {
			if op.isAppend {
				rank++
			}
		}
		start = end
	}
	for i, op := range ops {
		if i-start >= size && op.call > busyUntil {
			cut(i)
		}
		busyUntil = max(busyUntil, op.ret)
	}
	cut(len(ops))
	return pieces
}

func (p piece) lastReturn() Step {
	last := Step(0)
	for _, op := range p.operations {
		last = max(last, op.ret)
	}
	return last
}

// step says whether an operation can take place in a state, and the state after it.
type step func(appended int, op rankedOp) (bool, int)

// relaxedStep lets a read see any prefix of the log.
func relaxedStep(appended int, op rankedOp) (bool, int) {
	if op.isAppend {
		return op.rank == appended, appended + 1
	}
	return op.rank <= appended, appended
}

// strictStep makes a read see all of the log.
func strictStep(appended int, op rankedOp) (bool, int) {
	if op.isAppend {
		return op.rank == appended, appended + 1
	}
	return op.rank == appended, appended
}

// check runs Porcupine. Unknown means that the time was over.
func (p piece) check(next step, timeout time.Duration) porcupine.CheckResult {
	model := porcupine.Model{
		Init: func() any { return p.rank },
		Step: func(state, input, _ any) (bool, any) {
			ok, after := next(state.(int), input.(rankedOp))
			return ok, after
		},
		Equal: func(a, b any) bool { return a == b },
		Hash:  func(state any) uint64 { return uint64(state.(int)) },
	}
	ops := make([]porcupine.Operation, len(p.operations))
	for i, op := range p.operations {
		ops[i] = porcupine.Operation{
			ClientId: i, Input: op, Call: int64(op.call), Return: int64(op.ret),
		}
	}
	return porcupine.CheckOperationsTimeout(model, ops, timeout)
}
