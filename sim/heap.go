package sim

// event is something that will happen. It is kept by value.
type event struct {
	at    Time
	seq   uint64
	owner Owner
	kind  Kind
	task  *Task  // to be resumed, or
	run   func() // to be called
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// eventHeap is a heap of four children a node, the earliest event on top. The order is total,
// because no two events share a sequence number.
type eventHeap []event

const heapArity = 4

func (h *eventHeap) push(e event) {
	*h = append(*h, e)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / heapArity
		if !e.before(&s[parent]) {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = e
}

func (h *eventHeap) pop() event {
	s := *h
	top, last := s[0], s[len(s)-1]
	s[len(s)-1] = event{}
	s = s[:len(s)-1]
	*h = s
	if len(s) > 0 {
		s.sink(last)
	}
	return top
}

// sink puts e where it belongs below the top, which is free.
func (s eventHeap) sink(e event) {
	i := 0
	for {
		child := heapArity*i + 1
		if child >= len(s) {
			break
		}
		least := child
		for c := child + 1; c < min(child+heapArity, len(s)); c++ {
			if s[c].before(&s[least]) {
				least = c
			}
		}
		if !s[least].before(&e) {
			break
		}
		s[i] = s[least]
		i = least
	}
	s[i] = e
}
