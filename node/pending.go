package node

import (
	"sync"

	"stet/core/env"
)

// call is what has to be remembered of a request to decode its answer.
type call struct{ key, version int16 }

// pendingCalls maps the slots of a link to their requests.
type pendingCalls struct {
	mu    sync.Mutex
	calls map[env.Slot]call
}

func newPendingCalls() *pendingCalls { return &pendingCalls{calls: map[env.Slot]call{}} }

func (p *pendingCalls) add(s env.Slot, c call) {
	p.mu.Lock()
	p.calls[s] = c
	p.mu.Unlock()
}

func (p *pendingCalls) remove(s env.Slot) (call, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.calls[s]
	delete(p.calls, s)
	return c, ok
}
