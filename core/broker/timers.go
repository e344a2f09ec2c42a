package broker

import "stet/core/env"

// timer is a deadline that its owner embeds. The zero value is not set.
type timer struct {
	at      env.Mono
	seq     uint64 // order among equal deadlines: first set, first fired
	place   int    // 1 + index in the heap; 0 when not set
	subject any    // who is told; a pointer, so that storing it allocates nothing
}

// timers is the loop's one heap of deadlines. Setting and clearing cost O(log n), so that a
// deadline which nearly always is cleared in time leaves nothing behind.
type timers struct {
	heap []*timer
	seq  uint64
}

// set arms t for at, or moves it there.
func (h *timers) set(t *timer, at env.Mono, subject any) {
	h.clear(t)
	h.seq++
	t.at, t.seq, t.subject = at, h.seq, subject
	h.heap = append(h.heap, t)
	t.place = len(h.heap)
	h.up(len(h.heap) - 1)
}

// clear disarms t; a timer that is not set is left alone.
func (h *timers) clear(t *timer) {
	if t.place == 0 {
		return
	}
	i, last := t.place-1, len(h.heap)-1
	h.swap(i, last)
	h.heap[last] = nil
	h.heap = h.heap[:last]
	t.place, t.subject = 0, nil
	if i < last {
		h.down(i)
		h.up(i)
	}
}

// next returns the earliest deadline, Never without one.
func (h *timers) next() env.Mono {
	if len(h.heap) == 0 {
		return env.Never
	}
	return h.heap[0].at
}

// expired disarms the earliest timer that is due and returns its subject, or nil.
func (h *timers) expired(now env.Mono) any {
	if h.next() > now {
		return nil
	}
	subject := h.heap[0].subject
	h.clear(h.heap[0])
	return subject
}

func (h *timers) less(i, j int) bool {
	a, b := h.heap[i], h.heap[j]
	if a.at != b.at {
		return a.at < b.at
	}
	return a.seq < b.seq
}

func (h *timers) swap(i, j int) {
	h.heap[i], h.heap[j] = h.heap[j], h.heap[i]
	h.heap[i].place, h.heap[j].place = i+1, j+1
}

func (h *timers) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *timers) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.heap) {
			return
		}
		if child+1 < len(h.heap) && h.less(child+1, child) {
			child++
		}
		if !h.less(child, i) {
			return
		}
		h.swap(i, child)
		i = child
	}
}
