package controller

import (
	"container/heap"
	cryptorand "crypto/rand"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/wire"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// cluster is a world of several controllers: one thread, one seed, time that jumps from one thing
// that happens to the next. Links are what package env says of them: frames in order or not at all,
// an end that may never be told. Disks lose what was not synced.
type cluster struct {
	t        *testing.T
	random   *rand.Rand
	now      env.Mono
	count    uint64
	schedule agenda
	machines []*machine
	cables   []*cable
	cut      map[[2]int]bool // directions in which nothing arrives
	lags     bool            // now and then something takes longer than an election
	loud     bool            // the end of a process is always told to those who have links to it
	history  history
}

// machine is a node with a controller, or the place for one.
type machine struct {
	cluster  *cluster
	node     int
	addr     string // where it listens
	config   Config
	world    *logtest.World
	c        *Controller // nil: down
	life     int
	out      env.Effects
	stepping bool
	paused   bool
	held     []env.Event // what reaches a process that is paused, when it goes on
	wake     env.Mono
	conns    uint64
	asked    map[env.ConnID]question // of clients
	image    *metadata.Image
	wiped    int
	voter    uint64 // of the disk; 0: not known
	log      []string
	doomed   bool // what it is about to do is fatal
}

// question is a request of a client. done is called once, with nil if the outcome is not known.
type question struct {
	body kmsg.Request
	done func(kmsg.Response)
}

func newCluster(t *testing.T, seed uint64, size int) *cluster {
	s := &cluster{
		t: t, random: rand.New(rand.NewPCG(seed, 7)), cut: map[[2]int]bool{}, history: newHistory(t),
	}
	old := cryptorand.Reader
	cryptorand.Reader = byteReader{rand.New(rand.NewPCG(seed, 8))}
	t.Cleanup(func() { cryptorand.Reader = old })
	for i := range size {
		s.add(i+1, size)
	}
	return s
}

// byteReader makes a reader of a random stream.
type byteReader struct{ random *rand.Rand }

var _ io.Reader = byteReader{}

func (r byteReader) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.random.Uint32())
	}
	return len(b), nil
}

func address(node int) string { return "n" + string(rune('0'+node)) + ":9093" }

// add makes a place for a node whose list has the nodes 1 to listed.
func (s *cluster) add(node, listed int) *machine {
	m := &machine{cluster: s, node: node, addr: address(node), config: DefaultConfig()}
	m.config.SessionTimeout, m.config.ReconnectGrace = 9*time.Second, time.Second
	m.config.NodeID, m.config.Advertise = kafka.BrokerID(node), address(node)
	m.config.TickInterval = 20 * time.Millisecond
	m.config.Quorum.SnapshotEntries = 12
	for i := range listed {
		m.config.Controllers = append(m.config.Controllers,
			kafka.ControllerAddress{Node: kafka.BrokerID(i + 1), Addr: address(i + 1)})
	}
	m.wipe()
	s.machines = append(s.machines, m)
	return m
}

// wipe replaces the disk of a machine that is down by an empty one.
func (m *machine) wipe() {
	m.world = logtest.NewWorld(rand.New(rand.NewPCG(m.cluster.random.Uint64(), 9)))
	m.wiped++
	m.voter = 0
}

func (m *machine) start() {
	if m.c != nil {
		return
	}
	m.life++
	config := m.config
	m.paused, m.held = false, nil
	m.asked, m.stepping, m.wake, m.image = map[env.ConnID]question{}, false, env.Never, nil
	m.c = New(&config, env.Identity{}, func(env.Use) *rand.Rand {
		return rand.New(rand.NewPCG(m.cluster.random.Uint64(), 10))
	})
	m.out.Reset()
	m.turn(env.Event{Kind: env.EventTick})
}

// crash ends the process, with the machine's power or without.
func (m *machine) crash(power bool) {
	if m.c == nil {
		return
	}
	if power {
		m.world.Disk.LosePower()
	} else {
		m.world.Disk.Kill()
	}
	m.world.Crash()
	m.c = nil
	m.life++
	asked := m.asked
	m.asked = nil
	for _, id := range sortedKeys(asked) {
		asked[id].done(nil)
	}
	for _, cable := range slices.Clone(m.cluster.cables) {
		cable.orphan(m)
	}
}

// pause stops a process for a while. Its clock goes on.
func (m *machine) pause(d time.Duration) {
	if m.c == nil || m.paused {
		return
	}
	m.paused = true
	life := m.life
	m.cluster.after(d, func() {
		if m.life != life {
			return
		}
		held := m.held
		m.paused, m.held = false, nil
		for _, ev := range held {
			m.turn(ev)
		}
	})
}

// turn runs the controller and carries out what it wants.
func (m *machine) turn(in ...env.Event) {
	s := m.cluster
	if m.paused {
		m.held = append(m.held, in...)
		return
	}
	m.c.Turn(env.Now{Mono: s.now, WallMs: int64(s.now) / 1e6}, in, &m.out)
	for _, r := range m.out.Trace {
		m.log = append(m.log, fmt.Sprintf("%v %d %d %d %s", time.Duration(s.now), r.A, r.B, r.C, r.S))
	}
	if err := m.c.Fatal(); err != nil {
		require.True(s.t, m.doomed, "%v", err)
		m.crash(false)
		return
	}
	s.history.observe(m)
	for _, op := range m.out.Conn {
		m.conn(op, append([]byte(nil), m.out.Bytes[op.Head.Start:op.Head.End]...))
	}
	wake := m.out.Wake
	m.world.Perform(&m.out)
	if wake < m.wake {
		m.wake = wake
		life := m.life
		s.at(max(wake, s.now), func() {
			if m.life == life && m.wake == wake {
				m.wake = env.Never
				m.turn(env.Event{Kind: env.EventTick})
			}
		})
	}
	m.step()
}

// step has the disk perform one effect, a little later.
func (m *machine) step() {
	if m.stepping || m.world.Outstanding() == 0 {
		return
	}
	m.stepping = true
	life := m.life
	m.cluster.after(time.Duration(m.cluster.random.IntN(1_000_000)), func() {
		if m.life != life {
			return
		}
		m.stepping = false
		if ev, ok := m.world.Step(); ok && (ev.Token != 0 || ev.Err != env.OK) {
			m.turn(ev)
		}
		m.step()
	})
}

func (m *machine) conn(op env.ConnOp, head []byte) {
	s := m.cluster
	switch {
	case op.Op == env.ConnDial:
		s.dial(m, op.Conn, string(head))
	case op.Op == env.ConnRespond && m.asked[op.Conn].body != nil:
		q := m.asked[op.Conn]
		delete(m.asked, op.Conn)
		answer, err := wire.DecodeResponse(q.body.Key(), q.body.GetVersion(), head)
		require.NoError(s.t, err)
		q.done(answer)
	default:
		if cable := s.cable(m, op.Conn); cable != nil {
			cable.effect(m, op, head)
		}
	}
}

// ask sends a client's request to a machine.
func (m *machine) ask(body kmsg.Request, done func(kmsg.Response)) {
	life := m.life
	m.cluster.after(time.Duration(m.cluster.random.IntN(2_000_000)), func() {
		if m.c == nil || m.life != life {
			done(nil)
			return
		}
		m.conns++
		conn := env.ConnID(m.conns)
		m.asked[conn] = question{body, done}
		m.turn(env.Event{Kind: env.EventRequest, Conn: conn, Slot: 1, Req: &env.Request{
			Conn: conn, Slot: 1, Key: body.Key(), Version: body.GetVersion(), Correlation: 1, Body: body,
		}})
	})
}

// leader returns the machine that leads in the latest term, or nil.
func (s *cluster) leader() (leader *machine) {
	for _, m := range s.machines {
		if m.c != nil && m.c.Ready() && (leader == nil || m.c.term > leader.c.term) {
			leader = m
		}
	}
	return leader
}

// agenda is what is to happen, by time and then by when it was planned.
type agenda []appointment

type appointment struct {
	at    env.Mono
	order uint64
	run   func()
}

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}
func (a *agenda) Push(x any) { *a = append(*a, x.(appointment)) }

func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func (s *cluster) at(t env.Mono, run func()) {
	s.count++
	heap.Push(&s.schedule, appointment{t, s.count, run})
}

func (s *cluster) after(d time.Duration, run func()) { s.at(s.now.Add(d), run) }

// run lets time pass.
func (s *cluster) run(d time.Duration) {
	end := s.now.Add(d)
	for len(s.schedule) > 0 && s.schedule[0].at <= end {
		next := heap.Pop(&s.schedule).(appointment)
		s.now = next.at
		next.run()
	}
	s.now = end
}

// until lets time pass until something is so, for at most d, and says whether it is.
func (s *cluster) until(d time.Duration, so func() bool) bool {
	for end := s.now.Add(d); s.now < end; s.run(10 * time.Millisecond) {
		if so() {
			return true
		}
	}
	return so()
}

func (s *cluster) startAll() {
	for _, m := range s.machines {
		m.start()
	}
}

func (s *cluster) heal() { clear(s.cut) }

// isolate cuts the machines of the set from the others, or with oneWay only what leaves them.
func (s *cluster) isolate(set []int, oneWay bool) {
	for _, a := range s.machines {
		for _, b := range s.machines {
			if slices.Contains(set, a.node) && !slices.Contains(set, b.node) {
				s.cut[[2]int{a.node, b.node}] = true
				if !oneWay {
					s.cut[[2]int{b.node, a.node}] = true
				}
			}
		}
	}
}
