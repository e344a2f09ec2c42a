package scenarios

import (
	"strconv"
	"strings"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"
	"stet/sim"
)

// saboteur makes the faults of a plan happen: sim.DiskFaults, sim.NetFaults, and strikes.
type saboteur struct {
	world   *sim.World
	machine *sim.Machine
	monitor *monitor
	plan    *faultPlan
	stream  *sim.Stream
	strikes []strike // to come
	armed   *crash   // waits for a call of the disk
	again   crash    // what interrupts the recovery that comes next
	spent   int      // disk faults
	healed  bool
}

// begin takes over the disk and the network.
func (s *saboteur) begin() {
	s.machine.Disk.Plan, s.world.Network.Plan = s, netPlan{s}
	s.strikes = s.plan.strikes
}

// heal ends all faults and brings the machine up.
func (s *saboteur) heal() {
	s.healed, s.armed, s.strikes = true, nil, nil
	s.again.again = 0
	s.machine.Disk.Plan, s.world.Network.Plan = sim.NoDiskFaults{}, sim.NoNetFaults{}
	s.world.Network.HealAll()
	s.start()
}

// attempted is told that a producer starts its n-th request.
func (s *saboteur) attempted(n int) {
	for len(s.strikes) > 0 {
		at := -1
		for i := range s.strikes {
			if s.strikes[i].after <= n {
				at = i
				break
			}
		}
		if at < 0 {
			return
		}
		next := s.strikes[at]
		s.strikes = append(append([]strike(nil), s.strikes[:at]...), s.strikes[at+1:]...)
		// The request is on its way when the fault comes.
		s.world.Scheduler.After(s.stream.Delay(0, 2*sim.Millisecond), 0, sim.KindFault, func() {
			s.strike(&next)
		})
	}
}

func (s *saboteur) strike(f *strike) {
	if s.healed {
		return
	}
	client := sim.ClientPlace + sim.Place(s.stream.Index(3))
	switch f.kind {
	case strikeCrash:
		s.arm(&f.crash)
	case strikeReset:
		if open := s.world.Network.OpenConns(); len(open) > 0 {
			s.world.Network.Reset(open[s.stream.Index(len(open))].ID)
		}
	case strikeStall:
		s.world.Network.Stall(s.machine.Place, client, f.span)
		if f.both {
			s.world.Network.Stall(client, s.machine.Place, f.span)
		}
	case strikeClock:
		s.machine.Clock.Step(f.span)
	case strikePause:
		s.machine.Pause(f.span)
	case strikeSlowDisk:
		s.machine.Disk.Slow(s.world.Scheduler.Now()+f.span, s.stream.Delay(0, 20*sim.Millisecond))
	}
	s.monitor.counters["faults.strikes"]++
}

// arm has a crash come at its moment, or soon if that does not come.
func (s *saboteur) arm(c *crash) {
	if c.when == atOnce {
		s.crashNow(c)
		return
	}
	s.armed = c
	s.world.Scheduler.After(200*sim.Millisecond, 0, sim.KindFault, func() {
		if s.armed == c {
			s.crashNow(c)
		}
	})
}

func (s *saboteur) crashNow(c *crash) {
	s.armed = nil
	if s.healed || !s.machine.Running() {
		return
	}
	s.again = *c
	if c.cause == sim.PowerLost {
		s.machine.LosePower(sim.NewRandomFates(s.stream))
		return
	}
	s.machine.Kill()
}

// crashed is told that the process has died, or has ended by itself.
func (s *saboteur) crashed() {
	down := s.again.down
	if down == 0 {
		down = s.stream.Delay(sim.Millisecond, 300*sim.Millisecond)
	}
	s.world.Scheduler.After(down, 0, sim.KindFault, s.start)
}

// start starts the machine, if it is down, and may arm the crash that interrupts its recovery.
func (s *saboteur) start() {
	if s.machine.Running() {
		return
	}
	s.monitor.started()
	s.machine.Start()
	if s.again.again == 0 || s.healed {
		s.again = crash{}
		return
	}
	next := s.again
	next.again--
	next.when, next.skip = inAny, int(s.stream.Skewed(60))
	s.armed = &next
}

// Decide implements sim.DiskFaults.
func (s *saboteur) Decide(op sim.DiskOp) sim.DiskFault {
	if c := s.armed; c != nil && c.when.fits(op.Kind) {
		if c.skip > 0 {
			c.skip--
		} else {
			s.armed, s.again = nil, *c
			if c.cause == sim.PowerLost {
				return sim.DiskFault{Kind: sim.DiskPowerDuring}
			}
			return sim.DiskFault{Kind: sim.DiskKillDuring}
		}
	}
	p, isLog := logOf(op.Path)
	f := s.fail(op, isLog || strings.HasPrefix(op.Path.Name, topicName+"-"))
	if f.Kind == sim.DiskEIO && op.Kind == sim.DiskSync && isLog {
		s.monitor.syncFailed(p)
	}
	return f
}

// fail draws whether a call fails.
func (s *saboteur) fail(op sim.DiskOp, ofTopic bool) sim.DiskFault {
	r := &s.plan.disk
	if s.spent >= r.budget || r.logsOnly && !ofTopic {
		return sim.DiskFault{}
	}
	f := s.draw(op)
	if f.Kind != sim.DiskFine && f.Kind != sim.DiskSlow {
		s.spent++
		if s.monitor.recorder.inFlight > 0 {
			s.monitor.counters["faults.in_flight"]++
		}
	}
	return f
}

func (s *saboteur) draw(op sim.DiskOp) sim.DiskFault {
	r := &s.plan.disk
	hits := func(rate uint64) bool { return s.stream.Chance(rate, 4096) }
	switch {
	case hits(r.slow):
		return sim.DiskFault{Kind: sim.DiskSlow, Delay: s.stream.Delay(0, 100*sim.Millisecond)}
	case op.Kind == sim.DiskWrite && hits(r.write):
		return sim.DiskFault{Kind: sim.DiskEIO, Bytes: s.stream.Between(0, op.Len)}
	case op.Kind == sim.DiskWrite && op.Len > 1 && hits(r.short):
		return sim.DiskFault{Kind: sim.DiskShort, Bytes: s.stream.Between(0, op.Len-1)}
	case op.Kind == sim.DiskWrite && hits(r.full):
		return sim.DiskFault{Kind: sim.DiskFull, Bytes: s.stream.Skewed(op.Len)}
	case op.Kind == sim.DiskSync && hits(r.sync):
		return sim.DiskFault{Kind: sim.DiskEIO}
	case op.Kind == sim.DiskRead && hits(r.read):
		return sim.DiskFault{Kind: sim.DiskEIO}
	case (op.Kind == sim.DiskCreate || op.Kind == sim.DiskRename || op.Kind == sim.DiskSyncDir ||
		op.Kind == sim.DiskRemove || op.Kind == sim.DiskTruncate) && hits(r.names):
		return sim.DiskFault{Kind: sim.DiskEIO}
	}
	return sim.DiskFault{}
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
	r := &n.plan.net
	switch {
	case n.stream.Chance(r.hold, 4096):
		return sim.NetFault{
			Kind:  sim.NetHold,
			Delay: n.stream.Delay(r.holdFor.Low, r.holdFor.High),
		}
	case f.Key == wire.KeyProduce && n.stream.Chance(r.reset, 4096):
		return sim.NetFault{Kind: sim.NetReset}
	case f.Key == wire.KeyProduce && n.stream.Chance(r.vanish, 4096):
		return sim.NetFault{Kind: sim.NetVanish}
	}
	return sim.NetFault{}
}
