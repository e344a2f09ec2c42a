package node

import (
	"sync"
	"sync/atomic"

	"stet/core/env"
	"stet/core/invariant"
)

// Memory bounds and recycles the memory that frames are read into. A frame's bytes count from its
// size prefix until its last reference is gone; connections that find no budget wait in order.
type Memory struct {
	limit int64

	mu      sync.Mutex
	used    int64
	waiters []*Conn
	free    [len(sizeClasses)][]*buffer
	kept    int64 // bytes in free
}

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

// take returns a buffer of size bytes, or nil and remembers c for Resume. A frame larger than the
// whole budget is admitted alone, so that it can not wait for ever.
func (m *Memory) take(size int, c *Conn) *buffer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used > 0 && m.used+int64(size) > m.limit {
		c.awaitBudget()
		m.waiters = append(m.waiters, c)
		return nil
	}
	m.used += int64(size)
	return m.get(size)
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

// add counts a frame of the node's own, which waits for no budget.
func (m *Memory) add(size int) {
	m.mu.Lock()
	m.used += int64(size)
	m.mu.Unlock()
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

// give takes back a buffer and lets the connections go on that now find budget.
func (m *Memory) give(b *buffer) {
	m.mu.Lock()
	m.used -= int64(b.size)
	class := classOf(cap(b.block))
	if class >= 0 && cap(b.block) == sizeClasses[class] && m.kept+int64(cap(b.block)) <= maxKept {
		m.free[class] = append(m.free[class], b)
		m.kept += int64(cap(b.block))
	}
	waiters := m.waiters
	m.waiters = nil
	m.mu.Unlock()
	for _, c := range waiters {
		c.resume()
	}
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
