package quorum

import (
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/invariant"
)

// cluster runs many voters over disks in memory and a network that delays, loses, doubles and
// reorders, in one goroutine: same seed, same run. A judge looks at every step.
type cluster struct {
	seed    uint64
	rand    *rand.Rand
	profile profile
	config  Config
	nodes   []*member // a place each, of whoever lives there now
	all     []*member // and those whose directory was lost
	network []packet
	cut     []bool             // by place: cut off from the others
	filter  func(*packet) bool // of what arrives; false loses it
	judge   judge
	steps   int
	count   counts
}

// profile is how rough a run is: weights of what may happen next.
type profile struct {
	deliver, disk, tick, propose, lose, double                          int
	crash, restart, cut, heal, wipe, change, transfer, read, fail, tear int
}

// counts says what a run has reached.
type counts struct {
	Elections, Committed, Crashes, Wipes, Changes, Installs, Reads, Transfers, Failed int
}

// member is one data directory and, while it runs, its voter.
type member struct {
	c       *cluster
	place   int
	id      uint64
	world   *logtest.World
	random  io.Reader
	owner   env.Owner
	q       *Quorum // nil while it is down
	out     env.Effects
	state   state
	asked   []readAsked // reads under way
	reading []reading   // pieces of a snapshot that are being read for others
	nextID  uint64

	founders []uint64 // nil for one that waits to be added
	record   record   // what the judge knows of it
}

// readAsked is a read with what was committed when it was asked for.
type readAsked struct{ id, atLeast uint64 }

// reading is a piece of a snapshot that is being read for another voter.
type reading struct {
	token env.Token
	to    uint64
	ask   SnapshotFetch
}

// packet is on its way: a message of raft, a wish for a piece of a snapshot, or that piece.
type packet struct {
	from, to uint64
	data     []byte
	fetch    *SnapshotFetch
	chunk    *SnapshotChunk
}

// state is an application: a chain of hashes of what was applied.
type state struct{ index, chain uint64 }

// AppendSnapshot implements Body. The filling makes a snapshot longer than a piece of it.
func (s state) AppendSnapshot(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, s.index)
	dst = binary.LittleEndian.AppendUint64(dst, s.chain)
	return append(dst, make([]byte, 40)...)
}

func parseState(b []byte, at Position) state {
	if len(b) == 0 {
		return state{index: at.Index}
	}
	return state{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// source is a seeded stream for raft's election timeouts.
type source struct{ *rand.Rand }

func (s source) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s.Uint64())
	}
	return len(p), nil
}

// newCluster founds a quorum of this many voters.
func newCluster(seed uint64, voters int) *cluster {
	c := &cluster{seed: seed, rand: rand.New(rand.NewPCG(seed, 7)), config: DefaultConfig()}
	c.config.SnapshotEntries = 3 + c.rand.IntN(8)
	c.config.ElectionTicks, c.config.HeartbeatTicks = 4, 1
	c.judge.init()
	for range voters {
		c.addPlace()
	}
	var ids []uint64
	for _, m := range c.nodes {
		ids = append(ids, m.id)
	}
	for _, m := range c.nodes {
		m.founders = ids
		m.boot()
	}
	return c
}

// addPlace makes a place with an empty directory.
func (c *cluster) addPlace() *member {
	c.nodes, c.cut = append(c.nodes, nil), append(c.cut, false)
	return c.settle(len(c.nodes) - 1)
}

// settle gives a place an empty directory.
func (c *cluster) settle(place int) *member {
	m := &member{c: c, place: place, id: uint64(len(c.all) + 1)}
	stream := rand.New(rand.NewPCG(c.seed, 1000+m.id))
	m.world, m.random = logtest.NewWorld(stream), source{stream}
	m.record.init()
	c.nodes[place], c.all = m, append(c.all, m)
	return m
}

// directory is an id that VoterOf makes m.id of.
func (m *member) directory() (id [16]byte) {
	binary.LittleEndian.PutUint64(id[:], m.id<<1)
	return id
}

// find returns who runs under a voter id, or nil.
func (c *cluster) find(id uint64) *member {
	for _, m := range c.nodes {
		if m.id == id && m.q != nil {
			return m
		}
	}
	return nil
}

// deliver takes a packet from the network to its voter.
func (c *cluster) deliver(i int, keep bool) {
	p := c.network[i]
	if !keep {
		last := len(c.network) - 1
		c.network[i] = c.network[last]
		c.network = c.network[:last]
	}
	if c.filter != nil && !c.filter(&p) {
		return
	}
	from, to := c.all[p.from-1].place, c.all[p.to-1].place
	m := c.find(p.to)
	if m == nil || from != to && (c.cut[from] || c.cut[to]) {
		if sender := c.find(p.from); sender != nil && c.rand.IntN(2) == 0 {
			sender.sit()
			sender.q.Unreachable(p.to)
			sender.turn()
		}
		return
	}
	m.sit()
	switch {
	case p.fetch != nil:
		token, ok := m.q.ReadSnapshot(p.fetch.At, p.fetch.Offset, 48, &m.out)
		if ok {
			m.reading = append(m.reading, reading{token, p.from, *p.fetch})
		} else {
			m.q.SnapshotFailed(p.from)
			c.network = append(c.network, packet{from: m.id, to: p.from, chunk: &SnapshotChunk{
				At: p.fetch.At, Offset: p.fetch.Offset, Gone: true,
			}})
		}
	case p.chunk != nil:
		m.q.SnapshotChunk(*p.chunk, &m.out)
	default:
		if err := m.q.Receive(p.data); err != nil {
			violate("receive", "voter %d refuses a message: %v", m.id, err)
		}
	}
	m.turn()
}

// violation is what the judge panics with.
type violation struct{ check, text string }

func (v violation) Error() string { return v.check + ": " + v.text }

func violate(check, format string, args ...any) {
	panic(violation{check, fmt.Sprintf(format, args...)})
}

// attempt runs f and returns the violation that ended it, a failed assertion included.
func attempt(f func()) (found error) {
	before := crand.Reader
	defer func() {
		crand.Reader = before
		switch r := recover().(type) {
		case nil:
		case violation:
			found = r
		case invariant.Violation:
			found = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// pick returns one of the members that fit, or nil.
func (c *cluster) pick(fits func(*member) bool) *member {
	var some []*member
	for _, m := range c.nodes {
		if fits(m) {
			some = append(some, m)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[c.rand.IntN(len(some))]
}

func alive(m *member) bool { return m.q != nil }

func leading(m *member) bool { return m.q != nil && m.q.Leading() }

func mustRun(t *testing.T, seed uint64, f func()) {
	t.Helper()
	if err := attempt(f); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
}

// String says what there is, for whoever looks for the cause of a violation.
func (c *cluster) String() string {
	out := fmt.Sprintf("step %d, committed %d, %d packets\n", c.steps, c.judge.atMost, len(c.network))
	for _, m := range c.nodes {
		if m.q == nil {
			out += fmt.Sprintf("%d: down\n", m.id)
			continue
		}
		s := m.q.Status()
		out += fmt.Sprintf("%d: %s of %v leader %d start %v last %v durable %v applied %v %+v peers %v fetch %v\n",
			m.id, s.Role, s.Hard, s.Leader, s.Start, s.Last, s.Durable, s.Applied, s.Members, s.Peers,
			m.q.fetch.offer != nil)
	}
	return out
}
