package partition

import (
	"stet/core/invariant"
	"stet/core/kafka"
)

// Ticket names a request that waits for this replica. The caller chooses it and finds the waiting
// request by it when the Outcome comes.
type Ticket struct{ Index, Generation, Part uint32 }

// Outcome is what became of an append.
type Outcome struct {
	Ticket Ticket
	Code   kafka.ErrorCode
	// BaseOffset is where the batch lies, or lay first if it was a duplicate; kafka.NoOffset with
	// an error after which it may or may not be in the log.
	BaseOffset kafka.Offset
	// AppendTimeMs is the time of a LogAppendTime topic's append, else kafka.NoTimestamp.
	AppendTimeMs   int64
	LogStartOffset kafka.Offset
}

// waiting is an append that is not yet acknowledged.
type waiting struct {
	ticket       Ticket
	base, end    kafka.Offset // [base, end) of the batch
	appendTimeMs int64
}

// acknowledgements is a queue of appends in the order of their end offsets. Appends arrive in that
// order; only a duplicate, which waits for its original's end, is sorted in.
type acknowledgements struct {
	queue []waiting
	head  int // queue[:head] is done
}

func (a *acknowledgements) len() int { return len(a.queue) - a.head }

// add queues w behind everything that ends no later.
func (a *acknowledgements) add(w waiting) {
	a.queue = append(a.queue, w)
	i := len(a.queue) - 1
	for i > a.head && a.queue[i-1].end > w.end {
		a.queue[i] = a.queue[i-1]
		i--
	}
	a.queue[i] = w
}

// pop removes the first append if it ends at or before reached.
func (a *acknowledgements) pop(reached kafka.Offset) (waiting, bool) {
	if a.head == len(a.queue) || a.queue[a.head].end > reached {
		return waiting{}, false
	}
	w := a.queue[a.head]
	a.head++
	a.compact()
	if invariant.Slow && a.len() > 0 {
		invariant.Always(a.queue[a.head].end >= w.end, "acknowledgements are sorted")
	}
	return w, true
}

// compact reuses the queue's memory without moving more than it has popped.
func (a *acknowledgements) compact() {
	if a.head == len(a.queue) || a.head >= 1024 && a.head*2 >= len(a.queue) {
		n := copy(a.queue, a.queue[a.head:])
		a.queue, a.head = a.queue[:n], 0
	}
}
