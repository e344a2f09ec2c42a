package node

import (
	"slices"
	"sync"
	"sync/atomic"

	"stet/core/env"
	"stet/core/invariant"
)

// Memory bounds and recycles the memory that frames are read into. A frame's bytes count from its
// size prefix until its last reference is gone.
//
// Who comes first is served first: while a connection waits, no later frame is admitted, however
// small, so that a large one waits only for what was admitted before it. The one at the front is
// granted its bytes as soon as they fit, and is then resumed to fetch them; a connection waits for
// one frame at a time.
type Memory struct {
	limit int64

	mu      sync.Mutex
	used    int64     // of frames that are alive or granted
	waiters []waiting // waiters[head:], first come first
	head    int
	free    [len(sizeClasses)][]*buffer
	kept    int64 // bytes in free
}

// waiting is a connection that has announced a frame for which there was no budget.
type waiting struct {
	claim *claim
	size  int
}

// claim is what a connection has of the budget but no frame yet. It is guarded by Memory.mu.
type claim struct {
	writer env.ConnWriter // of the connection, whose reading half waits for its Resume
	state  claimState
	size   int // of the frame that is waited for, or granted
}

// clear makes c what it was before it asked for anything.
func (c *claim) clear() { c.state, c.size = claimNone, 0 }

type claimState uint8

const (
	claimNone claimState = iota
	claimWaiting
	claimGranted // size bytes are counted for it
)

// sizeClasses are the capacities that are recycled; larger frames are left to the collector.
var sizeClasses = [...]int{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20}

// maxKept bounds what lies unused in the free lists, in bytes.
const maxKept = 32 << 20

// NewMemory returns a budget of limit bytes.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit} }

// Used returns the bytes of frames that are alive.
func (m *Memory) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// take returns a buffer of size bytes, or nil: then c has its place in the line, and is resumed
// once its bytes are granted. Asking again before that changes nothing. A frame larger than the
// whole budget is admitted alone, so that it can not wait for ever.
func (m *Memory) take(size int, c *claim) *buffer {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case c.state == claimWaiting:
		return nil
	case c.state == claimGranted:
		invariant.Always(c.size == size, "a frame has the size that it announced")
		c.clear()
	case m.head < len(m.waiters) || !m.fits(size):
		m.enqueue(waiting{c, size})
		return nil
	default:
		m.used += int64(size)
	}
	return m.get(size)
}

func (m *Memory) fits(size int) bool { return m.used == 0 || m.used+int64(size) <= m.limit }

func (m *Memory) enqueue(w waiting) {
	w.claim.state, w.claim.size = claimWaiting, w.size
	if len(m.waiters) == cap(m.waiters) && m.head > 0 {
		n := copy(m.waiters, m.waiters[m.head:])
		clear(m.waiters[n:])
		m.waiters, m.head = m.waiters[:n], 0
	}
	m.waiters = append(m.waiters, w)
}

// grant counts the bytes of the first in line, if they fit, and returns it for its Resume.
func (m *Memory) grant() *claim {
	if m.head == len(m.waiters) || !m.fits(m.waiters[m.head].size) {
		return nil
	}
	w := m.waiters[m.head]
	m.waiters[m.head] = waiting{}
	if m.head++; m.head == len(m.waiters) {
		m.waiters, m.head = m.waiters[:0], 0
	}
	m.used += int64(w.size)
	w.claim.state = claimGranted
	return w.claim
}

// serve grants what fits. m.mu is held, and given free.
func (m *Memory) serve() {
	for c := m.grant(); c != nil; c = m.grant() {
		m.mu.Unlock()
		c.writer.Resume()
		m.mu.Lock()
	}
	m.mu.Unlock()
}

// leave takes c out of the line and takes back what was granted to it: it is closed.
func (m *Memory) leave(c *claim) {
	m.mu.Lock()
	switch c.state {
	case claimWaiting:
		i := slices.IndexFunc(m.waiters, func(w waiting) bool { return w.claim == c })
		m.waiters = slices.Delete(m.waiters, i, i+1)
		if m.head == len(m.waiters) {
			m.waiters, m.head = m.waiters[:0], 0
		}
	case claimGranted:
		m.used -= int64(c.size)
	}
	c.clear()
	m.serve()
}

func (m *Memory) get(size int) *buffer {
	class := classOf(size)
	if class < 0 {
		return newBuffer(m, make([]byte, size), size)
	}
	list := m.free[class]
	if len(list) == 0 {
		return newBuffer(m, make([]byte, sizeClasses[class]), size)
	}
	b := list[len(list)-1]
	m.free[class] = list[:len(list)-1]
	m.kept -= int64(sizeClasses[class])
	b.size = size
	b.refs.Store(1)
	return b
}

// add counts bytes that wait for no budget, because what they are copied from is counted already.
func (m *Memory) add(bytes int64) {
	m.mu.Lock()
	m.used += bytes
	m.mu.Unlock()
}

// sub takes back what add counted, and serves those that now find budget.
func (m *Memory) sub(bytes int64) {
	m.mu.Lock()
	m.used -= bytes
	m.serve()
}

func newBuffer(m *Memory, block []byte, size int) *buffer {
	b := &buffer{memory: m, block: block, size: size}
	b.refs.Store(1)
	return b
}

func classOf(size int) int {
	for i, c := range sizeClasses {
		if size <= c {
			return i
		}
	}
	return -1
}

// give takes back a buffer and serves those that now find budget.
func (m *Memory) give(b *buffer) {
	m.mu.Lock()
	m.used -= int64(b.size)
	class := classOf(cap(b.block))
	if class >= 0 && cap(b.block) == sizeClasses[class] && m.kept+int64(cap(b.block)) <= maxKept {
		m.free[class] = append(m.free[class], b)
		m.kept += int64(cap(b.block))
	}
	m.serve()
}

// buffer implements env.Buffer.
type buffer struct {
	memory *Memory
	block  []byte
	size   int
	refs   atomic.Int32
}

func (b *buffer) Bytes() []byte { return b.block[:b.size:b.size] }

func (b *buffer) Retain() { b.refs.Add(1) }

func (b *buffer) Release() {
	left := b.refs.Add(-1)
	invariant.Always(left >= 0, "a buffer was released more often than retained")
	if left == 0 {
		b.memory.give(b)
	}
}

var _ env.Buffer = (*buffer)(nil)
