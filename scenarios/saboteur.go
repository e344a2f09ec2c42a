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
	// started is told that a process starts.
	started()
	// fates decides what the power loss leaves that s.last is.
	fates() sim.PowerFates
}

// saboteur makes faults happen, and writes down those that did: sim.DiskFaults and sim.NetFaults.
type saboteur struct {
	world    *sim.World
	machine  *sim.Machine
	monitor  *monitor
	director director
	restarts *sim.Stream // how long a process stays down that ended by itself
	done     []schedule.Fault
	last     int // the last death in done, -1 for none
	healed   bool
}

// begin takes over the disk and the network.
func (s *saboteur) begin() {
	s.machine.Disk.Plan, s.world.Network.Plan = s, netPlan{s}
	s.world.Fates = func(*sim.Machine) sim.PowerFates { return s.fates() }
}

// heal ends all faults and brings the machine up.
func (s *saboteur) heal() {
	s.healed = true
	s.machine.Disk.Plan, s.world.Network.Plan = sim.NoDiskFaults{}, sim.NoNetFaults{}
	s.world.Network.HealAll()
	s.start()
}

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
	switch a.Verb {
	case schedule.Kill, schedule.Power, schedule.Pause:
		if !s.machine.Running() {
			return false
		}
	case schedule.Reset:
		if s.newest(a.Client) == 0 {
			return false
		}
	}
	s.world.Scheduler.Strike()
	s.note(f)
	switch a.Verb {
	case schedule.Kill:
		s.machine.Kill()
	case schedule.Power:
		s.machine.LosePower(s.fates())
	case schedule.Pause:
		s.machine.Pause(a.Span)
	case schedule.Reset:
		s.world.Network.Reset(s.newest(a.Client))
	case schedule.Stall:
		s.world.Network.Stall(a.Node, a.Client, a.Span)
		if a.Both {
			s.world.Network.Stall(a.Client, a.Node, a.Span)
		}
	case schedule.Clock:
		s.machine.Clock.Step(a.Span)
	case schedule.SlowDisk:
		s.machine.Disk.Slow(now+a.Span, a.By)
	}
	s.monitor.counters["faults.strikes"]++
	return true
}

// newest returns the newest open connection of a client, 0 for none.
func (s *saboteur) newest(client sim.Place) (id uint64) {
	for _, c := range s.world.Network.OpenConns() {
		if c.Dialer == client {
			id = c.ID
		}
	}
	return id
}

// note writes a fault down.
func (s *saboteur) note(f schedule.Fault) {
	if f.Do.Verb == schedule.Kill || f.Do.Verb == schedule.Power {
		s.last = len(s.done)
	}
	s.done = append(s.done, f)
}

// fates writes down what the power loss leaves that was noted last.
func (s *saboteur) fates() sim.PowerFates {
	return sim.RecordFates(s.director.fates(), &s.done[s.last].Do.Remains)
}

// crashed is told that the process has died of the last death.
func (s *saboteur) crashed() {
	s.world.Scheduler.After(s.done[s.last].Do.Down, 0, sim.KindFault, s.start)
}

// ended is told that the process has ended by itself.
func (s *saboteur) ended() {
	s.world.Scheduler.After(s.restarts.Delay(sim.Millisecond, 300*sim.Millisecond), 0, sim.KindFault, s.start)
}

// start starts the machine, if it is down.
func (s *saboteur) start() {
	if s.machine.Running() {
		return
	}
	s.monitor.started()
	s.machine.Start()
	if !s.healed {
		s.director.started()
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
		s.monitor.counters["faults.strikes"]++
	case schedule.Slow:
	default:
		s.monitor.struck(op, a.Verb)
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
		n.monitor.counters[CounterInFlight]++
	}
	switch a.Verb {
	case schedule.Hold:
		return sim.NetFault{Kind: sim.NetHold, Delay: a.Span}
	case schedule.Cut:
		return sim.NetFault{Kind: sim.NetReset}
	}
	return sim.NetFault{Kind: sim.NetVanish}
}
