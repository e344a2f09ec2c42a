package controller

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"stet/core/env"
	"stet/core/wire"

	"github.com/stretchr/testify/require"
)

// cable is a connection between two machines: a has dialled.
type cable struct {
	cluster      *cluster
	a, b         *machine
	aLife, bLife int // of the processes at its ends
	link, conn   env.ConnID
	there, back  flow
	asked        map[env.Slot][2]int16 // key and version, by slot
	inbox        [][]byte              // of b: one request at a time
	busy         bool
	received     env.Slot
	over         bool // nothing is sent any more
}

// flow is one direction: what was sent arrives in order.
type flow struct {
	from, to int
	waiting  []func()
	moving   bool
}

func (s *cluster) dial(m *machine, link env.ConnID, addr string) {
	i := slices.IndexFunc(s.machines, func(o *machine) bool { return o.addr == addr })
	if i < 0 {
		// Nobody listens there any more.
		s.after(s.delay(), func() {
			if m.c != nil {
				m.turn(env.Event{Kind: env.EventConnClosed, Conn: link, Err: env.ERefused})
			}
		})
		return
	}
	b := s.machines[i]
	c := &cable{
		cluster: s, a: m, b: b, aLife: m.life, link: link,
		there: flow{from: m.node, to: b.node}, back: flow{from: b.node, to: m.node},
		asked: map[env.Slot][2]int16{},
	}
	s.cables = append(s.cables, c)
	s.after(s.delay(), func() {
		cut := s.cut[[2]int{m.node, b.node}] || s.cut[[2]int{b.node, m.node}]
		if b.c == nil || cut {
			c.over = true
			err := env.ERefused
			if cut {
				err = env.ETimedOut
			}
			c.tell(m, c.aLife, env.Event{Kind: env.EventConnClosed, Conn: link, Err: err})
			c.forget()
			return
		}
		b.conns++
		c.bLife, c.conn = b.life, env.ConnID(b.conns)
		info := &env.ConnInfo{Remote: address(m.node)}
		c.tell(b, c.bLife, env.Event{Kind: env.EventConnOpened, Conn: c.conn, Info: info})
		c.tell(m, c.aLife, env.Event{Kind: env.EventConnOpened, Conn: link, Info: info})
	})
}

func (s *cluster) delay() time.Duration {
	d := time.Duration(100_000 + s.random.IntN(3_000_000))
	if s.lags && s.random.IntN(50) == 0 {
		d *= 100
	}
	return d
}

func (s *cluster) cable(m *machine, conn env.ConnID) *cable {
	for _, c := range s.cables {
		if c.a == m && c.link == conn && c.aLife == m.life || c.b == m && c.conn == conn && c.bLife == m.life {
			return c
		}
	}
	return nil
}

// tell has an event reach a process, if it still lives.
func (c *cable) tell(m *machine, life int, ev env.Event) {
	if m.c != nil && m.life == life {
		m.turn(ev)
	}
}

// move carries one thing along a direction, behind what was sent before.
func (c *cable) move(f *flow, arrive func()) {
	f.waiting = append(f.waiting, arrive)
	if !f.moving {
		f.moving = true
		c.cluster.after(c.cluster.delay(), func() { c.arrive(f) })
	}
}

func (c *cable) arrive(f *flow) {
	if c.cluster.cut[[2]int{f.from, f.to}] {
		c.cluster.after(10*time.Millisecond, func() { c.arrive(f) })
		return
	}
	first := f.waiting[0]
	f.waiting = f.waiting[1:]
	first()
	if len(f.waiting) > 0 {
		c.cluster.after(time.Duration(c.cluster.random.IntN(300_000)), func() { c.arrive(f) })
	} else {
		f.moving = false
	}
}

func (c *cable) effect(m *machine, op env.ConnOp, head []byte) {
	require.False(c.cluster.t, c.over && op.Op == env.ConnSend && m.life == c.aLife && c.bLife == 0)
	switch op.Op {
	case env.ConnSend:
		key := [2]int16{int16(head[0])<<8 | int16(head[1]), int16(head[2])<<8 | int16(head[3])}
		c.asked[op.Slot] = key
		if !c.over {
			c.move(&c.there, func() { c.request(head) })
		}
	case env.ConnRespond:
		c.busy = false
		if !c.over {
			c.move(&c.back, func() { c.response(op.Slot, head) })
		}
		c.next()
	case env.ConnClose:
		c.over = true
		c.cluster.after(0, func() {
			c.tell(c.a, c.aLife, env.Event{Kind: env.EventConnClosed, Conn: c.link, Err: op.Err})
		})
		c.move(&c.there, func() {
			c.tell(c.b, c.bLife, env.Event{Kind: env.EventConnClosed, Conn: c.conn})
			c.forget()
		})
	}
}

func (c *cable) request(head []byte) {
	c.inbox = append(c.inbox, head)
	c.next()
}

// next gives b the next request when it has answered the last.
func (c *cable) next() {
	if c.busy || len(c.inbox) == 0 {
		return
	}
	frame := c.inbox[0]
	c.inbox, c.busy = c.inbox[1:], true
	c.received++
	r := &env.Request{Conn: c.conn, Slot: c.received}
	decoder := wire.NewDecoder(wire.ControllerListener, wire.DefaultLimits())
	require.NoError(c.cluster.t, decoder.Decode(frame, r))
	slot := c.received
	c.cluster.after(0, func() {
		c.tell(c.b, c.bLife, env.Event{Kind: env.EventRequest, Conn: c.conn, Slot: slot, Req: r})
	})
}

func (c *cable) response(slot env.Slot, head []byte) {
	key := c.asked[slot]
	delete(c.asked, slot)
	res, err := wire.DecodeResponse(key[0], key[1], head)
	require.NoError(c.cluster.t, err)
	c.tell(c.a, c.aLife, env.Event{Kind: env.EventResponse, Conn: c.link, Slot: slot, Res: res})
}

// orphan tells the other end, or does not, that a process has died. What it has sent may still come.
func (c *cable) orphan(m *machine) {
	if c.over || !(c.a == m && c.aLife == m.life-1 || c.b == m && c.bLife == m.life-1) {
		return
	}
	c.over = true
	how := c.cluster.random.IntN(3)
	if c.cluster.loud {
		how = min(how, 1)
	}
	c.reset(how)
}

// reset ends a cable: 0 lets what is on its way arrive, 1 drops it, 2 drops it and tells nobody.
func (c *cable) reset(how int) {
	c.over = true
	if how > 0 {
		drop := func(f *flow) {
			for i := range f.waiting {
				f.waiting[i] = func() {}
			}
		}
		drop(&c.there)
		drop(&c.back)
	}
	if how == 2 {
		c.forget()
		return
	}
	c.move(&c.back, func() {
		c.tell(c.a, c.aLife, env.Event{Kind: env.EventConnClosed, Conn: c.link, Err: env.EReset})
	})
	c.move(&c.there, func() {
		c.tell(c.b, c.bLife, env.Event{Kind: env.EventConnClosed, Conn: c.conn, Err: env.EReset})
		c.forget()
	})
}

// forget drops a cable that nobody will hear of again, but for answers to what was sent over it.
func (c *cable) forget() {
	if c.there.moving || c.back.moving {
		return
	}
	c.cluster.cables = slices.DeleteFunc(c.cluster.cables, func(o *cable) bool { return o == c })
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
