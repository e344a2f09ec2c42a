package commitlog

import "stet/core/env"

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
