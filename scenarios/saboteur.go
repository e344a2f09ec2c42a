package scenarios

import (
	"strconv"
	"strings"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"
	"stet/scenarios/schedule"
	"stet/sim"
)

// director decides which faults come: the improviser draws them, the score has them written down.
type director interface {
	// requested is told that a try of a send starts, and has faults come through perform.
	requested(r schedule.Request)
	// called decides what goes wrong with a call of the disk, nil for nothing.
	called(op sim.DiskOp) *schedule.Action
	// sent decides what goes wrong with a frame, nil for nothing.
	sent(f sim.FrameInfo) *schedule.Action
	// began is told that a moment of the run has come.
	began(m schedule.Moment)
	// started is told that a process starts at a place.
	started(p sim.Place)
	// fates decides what the power loss leaves that s.last is.
	fates() sim.PowerFates
}

// saboteur makes faults happen, and writes down those that did: sim.DiskFaults and sim.NetFaults.
type saboteur struct {
	world    *sim.World
	machines []*sim.Machine // those that there are, by ascending place
	watcher  watcher
	counters counters
	director director
	restarts *sim.Stream // how long a process stays down that ended by itself
	done     []schedule.Fault
	last     int // the last death in done, -1 for none
	healed   bool
	stopping map[sim.Place]sim.Time // machines that stop cleanly, with the time until they start
}

func newSaboteur(w *sim.World, machines []*sim.Machine, watcher watcher, c counters) *saboteur {
	return &saboteur{
		world: w, machines: machines, watcher: watcher, counters: c, last: -1,
		restarts: w.Entropy.Stream("restarts", 0), stopping: map[sim.Place]sim.Time{},
	}
}

// watcher is told what happens to machines.
type watcher interface {
	// started is told that a process starts.
	started(m *sim.Machine)
	// struck is told that a call of the disk meets a fault that it will return.
	struck(op sim.DiskOp, v schedule.Verb)
	// wiped is told that a machine, which is down, is about to lose its directory.
	wiped(m *sim.Machine)
}

// machine returns the machine at a place, nil if there is none.
func (s *saboteur) machine(p sim.Place) *sim.Machine {
	for _, m := range s.machines {
		if m.Place == p {
			return m
		}
	}
	return nil
}

// begin takes over the disk and the network.
func (s *saboteur) begin() {
	for _, m := range s.machines {
		m.Disk.Plan = s
	}
	s.world.Network.Plan = netPlan{s}
	s.world.Fates = func(*sim.Machine) sim.PowerFates { return s.fates() }
}

// heal ends all faults and brings the machines up.
func (s *saboteur) heal() {
	s.healed = true
	for _, m := range s.machines {
		m.Disk.Plan = sim.NoDiskFaults{}
	}
	s.world.Network.Plan = sim.NoNetFaults{}
	s.world.Network.HealAll()
	for _, m := range s.machines {
		s.start(m)
	}
}

// reached is told that a moment of the run has come.
func (s *saboteur) reached(m schedule.Moment) { s.director.began(m) }

// attempted is told that a producer starts a request.
func (s *saboteur) attempted(r schedule.Request) {
	if !s.healed {
		s.director.requested(r)
	}
}

// after has f run a while later, unless the faults have ended by then.
func (s *saboteur) after(d sim.Time, f func()) {
	s.world.Scheduler.After(d, 0, sim.KindFault, func() {
		if !s.healed {
			f()
		}
	})
}

// perform makes a fault happen that comes at no call and no frame. It says whether it could.
func (s *saboteur) perform(f schedule.Fault) bool {
	a, now := &f.Do, s.world.Scheduler.Now()
	m := s.machine(a.Node)
	if !s.possible(a, m) {
		return false
	}
	s.world.Scheduler.Strike()
	s.note(f)
	switch a.Verb {
	case schedule.Kill:
		m.Kill()
	case schedule.Power:
		m.LosePower(s.fates())
	case schedule.Stop:
		s.stopping[m.Place] = a.Down
		m.Stop()
	case schedule.Wipe:
		m.Kill()
		s.watcher.wiped(m)
		m.Disk.Wipe()
	case schedule.Pause:
		m.Pause(a.Span)
	case schedule.Reset:
		s.world.Network.Reset(s.newest(a.Node, a.Client))
	case schedule.Stall:
		s.world.Network.Stall(a.Node, a.Client, a.Span)
		if a.Both {
			s.world.Network.Stall(a.Client, a.Node, a.Span)
		}
	case schedule.Clock:
		m.Clock.Step(a.Span)
	case schedule.SlowDisk:
		m.Disk.Slow(now+a.Span, a.By)
	}
	s.counters["faults.strikes"]++
	return true
}

// possible says whether there is something that a fault can hit.
func (s *saboteur) possible(a *schedule.Action, m *sim.Machine) bool {
	switch a.Verb {
	case schedule.Kill, schedule.Power, schedule.Pause, schedule.Wipe:
		return m != nil && m.Running()
	case schedule.Stop:
		_, stops := s.stopping[a.Node]
		return m != nil && m.Running() && !stops
	case schedule.Reset:
		return s.newest(a.Node, a.Client) != 0
	case schedule.Clock, schedule.SlowDisk:
		return m != nil
	}
	return true
}

// newest returns the newest open connection of a client, or with a machine that between it and
// another; 0 for none.
func (s *saboteur) newest(from, to sim.Place) (id uint64) {
	for _, c := range s.world.Network.OpenConns() {
		if from == 0 && c.Dialer == to || from != 0 && c.Dialer == from && c.Server == to {
			id = c.ID
		}
	}
	return id
}

// note writes a fault down.
func (s *saboteur) note(f schedule.Fault) {
	switch f.Do.Verb {
	case schedule.Kill, schedule.Power, schedule.Wipe:
		s.last = len(s.done)
	}
	s.done = append(s.done, f)
}

// fates writes down what the power loss leaves that was noted last.
func (s *saboteur) fates() sim.PowerFates {
	return sim.RecordFates(s.director.fates(), &s.done[s.last].Do.Remains)
}

// crashed is told that a process has died of the last death.
func (s *saboteur) crashed(m *sim.Machine) {
	delete(s.stopping, m.Place)
	s.startLater(m, s.done[s.last].Do.Down)
}

// ended is told that a process has ended by itself.
func (s *saboteur) ended(m *sim.Machine) {
	delete(s.stopping, m.Place)
	s.startLater(m, s.restarts.Delay(sim.Millisecond, 300*sim.Millisecond))
}

// stopped is told that a process has stopped as it was asked to.
func (s *saboteur) stopped(m *sim.Machine) {
	if down, asked := s.stopping[m.Place]; asked {
		delete(s.stopping, m.Place)
		s.startLater(m, down)
	}
}

// restart stops a process cleanly and starts the machine again, as an operator does; it is no fault. It
// says whether there was a process.
func (s *saboteur) restart(m *sim.Machine) bool {
	if _, stops := s.stopping[m.Place]; m.Running() && !stops {
		s.stopping[m.Place] = 0
		m.Stop()
	}
	return m.Running()
}

func (s *saboteur) startLater(m *sim.Machine, d sim.Time) {
	s.world.Scheduler.After(d, 0, sim.KindFault, func() { s.start(m) })
}

// start starts a machine, if it is down.
func (s *saboteur) start(m *sim.Machine) {
	if m.Running() {
		return
	}
	s.watcher.started(m)
	m.Start()
	if !s.healed {
		s.director.started(m.Place)
	}
}

// diskKinds says what a verb is for a disk.
var diskKinds = map[schedule.Verb]sim.DiskFaultKind{
	schedule.Kill: sim.DiskKillDuring, schedule.Power: sim.DiskPowerDuring, schedule.EIO: sim.DiskEIO,
	schedule.Short: sim.DiskShort, schedule.Full: sim.DiskFull, schedule.Slow: sim.DiskSlow,
	schedule.Flip: sim.DiskFlip, schedule.Latent: sim.DiskLatent, schedule.Misplace: sim.DiskMisdirect,
}

// Decide implements sim.DiskFaults.
func (s *saboteur) Decide(op sim.DiskOp) sim.DiskFault {
	a := s.director.called(op)
	if a == nil {
		return sim.DiskFault{}
	}
	s.note(schedule.Fault{At: schedule.Anchor{Call: &schedule.Call{
		Place: op.Place, Kind: op.Kind, Ordinal: op.Ordinal, Path: op.Path.Name,
	}}, Do: *a})
	switch a.Verb {
	case schedule.Kill, schedule.Power:
		s.counters["faults.strikes"]++
	case schedule.Slow:
	default:
		s.watcher.struck(op, a.Verb)
	}
	return sim.DiskFault{Kind: diskKinds[a.Verb], Bytes: a.Bytes, Delay: a.Span}
}

// logOf says whether a path is a log of the topic, and of which partition.
func logOf(p env.Path) (kafka.PartitionID, bool) {
	dir, file, ok := strings.Cut(p.Name, "/")
	number, isTopic := strings.CutPrefix(dir, topicName+"-")
	id, err := strconv.Atoi(number)
	return kafka.PartitionID(id), ok && isTopic && err == nil && strings.HasSuffix(file, ".log")
}

// netPlan is the saboteur as a plan of the network.
type netPlan struct{ *saboteur }

// Decide implements sim.NetFaults.
func (n netPlan) Decide(f sim.FrameInfo) sim.NetFault {
	a := n.director.sent(f)
	if a == nil {
		return sim.NetFault{}
	}
	n.note(schedule.Fault{At: schedule.Anchor{Frame: &schedule.Frame{
		From: f.From, To: f.To, Response: !f.Request, Key: f.Key, Ordinal: f.Ordinal,
	}}, Do: *a})
	if f.Key == wire.KeyProduce {
		n.counters[CounterInFlight]++
	}
	switch a.Verb {
	case schedule.Hold:
		return sim.NetFault{Kind: sim.NetHold, Delay: a.Span}
	case schedule.Cut:
		return sim.NetFault{Kind: sim.NetReset}
	}
	return sim.NetFault{Kind: sim.NetVanish}
}
