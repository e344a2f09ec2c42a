package commitlog

import (
	"stet/core/env"
	"stet/core/kafka"
)

// pendingBatch is a batch whose write was emitted and that is not confirmed yet.
type pendingBatch struct {
	token    env.Token
	segment  *segment
	ref      batchRef
	index    indexed
	update   producerUpdate
	producer bool // update counts
	done     bool // the write completed, but not those before it
}

// pendingQueue holds the batches in [written, assigned), in the order of their offsets, which is
// also that of their tokens.
type pendingQueue struct {
	items []pendingBatch
	head  int
}

func (q *pendingQueue) len() int { return len(q.items) - q.head }

func (q *pendingQueue) push(b pendingBatch) { q.items = append(q.items, b) }

func (q *pendingQueue) first() *pendingBatch { return &q.items[q.head] }

func (q *pendingQueue) pop() {
	q.items[q.head] = pendingBatch{}
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	} else if q.head >= 64 && q.head >= len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
}

// find returns the batch with this token, or nil. The one asked for is nearly always the first.
func (q *pendingQueue) find(token env.Token) *pendingBatch {
	low, high := q.head, len(q.items)
	if low < high && q.items[low].token == token {
		return &q.items[low]
	}
	for low < high {
		mid := int(uint(low+high) / 2)
		if q.items[mid].token < token {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(q.items) && q.items[low].token == token {
		return &q.items[low]
	}
	return nil
}

// opKind says what an outstanding effect other than the write of a batch is for.
type opKind uint8

const (
	opOpen      opKind = iota + 1 // open or create a file
	opSync                        // sync of a segment's log; covers an end
	opSyncDir                     // sync of the directory that holds a segment's log
	opIndex                       // write of index entries
	opIndexSync                   // sync of an index of a segment that is being sealed
	opSeal                        // job
	opLocate                      // job
)

// op is an outstanding effect or job.
type op struct {
	token   env.Token
	kind    opKind
	segment *segment
	covers  kafka.Offset // opSync: what was written when it was emitted
	entry   batchRef     // opIndex: the first batch whose entry is written
}

// take removes the outstanding operation with this token. There are never many.
func (l *Log) take(token env.Token) (op, bool) {
	for i := range l.ops {
		if l.ops[i].token == token {
			o := l.ops[i]
			l.ops = append(l.ops[:i], l.ops[i+1:]...)
			return o, true
		}
	}
	return op{}, false
}

// start registers an operation and returns its token.
func (l *Log) start(o op) env.Token {
	o.token = l.handles.NextToken()
	l.ops = append(l.ops, o)
	return o.token
}
