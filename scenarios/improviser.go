package scenarios

import (
	"strings"

	"stet/core/wire"
	"stet/scenarios/schedule"
	"stet/sim"
)

// improviser is the director that draws faults as a seed's plan says.
type improviser struct {
	*saboteur
	plan   *faultPlan
	stream *sim.Stream
	armed  *armed // waits for a call of the disk
	again  *armed // interrupts the recovery that comes next
	spent  int    // disk faults
}

// armed is a crash that waits for its moment.
type armed struct {
	crash
	request schedule.Request // that it came from
	at      sim.Time         // when that was started
}

// patience is how long a crash waits for a call that it may come in.
const patience = 200 * sim.Millisecond

// requested implements director.
func (i *improviser) requested(r schedule.Request) {
	if r.Try != 1 {
		return
	}
	started := i.world.Scheduler.Now()
	for at := range i.plan.strikes {
		s := i.plan.strikes[at]
		if s.producer == r.Producer && s.send == r.Send {
			i.after(s.delay, func() { i.strike(&s, r, started) })
		}
	}
}

func (i *improviser) strike(s *strike, r schedule.Request, started sim.Time) {
	if s.kind == strikeCrash {
		i.arm(&armed{s.crash, r, started})
		return
	}
	a := schedule.Action{Span: s.span, Node: i.machines[0].Place}
	switch s.kind {
	case strikeReset:
		a = schedule.Action{Verb: schedule.Reset, Client: s.client}
	case strikeStall:
		a.Verb, a.Client, a.Both = schedule.Stall, s.client, s.both
	case strikeClock:
		a.Verb = schedule.Clock
	case strikePause:
		a.Verb = schedule.Pause
	case strikeSlowDisk:
		a.Verb, a.By = schedule.SlowDisk, s.by
	}
	i.perform(schedule.Fault{At: i.now(r, started), Do: a})
}

// now is the present moment, told from a request.
func (i *improviser) now(r schedule.Request, started sim.Time) schedule.Anchor {
	return schedule.Anchor{Request: &r, Delay: i.world.Scheduler.Now() - started}
}

// arm has a crash come at its moment, or soon if that does not come.
func (i *improviser) arm(c *armed) {
	if c.when == atOnce {
		i.crashNow(c)
		return
	}
	i.armed = c
	i.after(patience, func() {
		if i.armed == c {
			i.crashNow(c)
		}
	})
}

func (i *improviser) crashNow(c *armed) {
	i.armed = nil
	if i.machines[0].Running() {
		i.again = c
	}
	i.perform(schedule.Fault{At: i.now(c.request, c.at), Do: c.action(i.machines[0].Place)})
}

func (c *armed) action(p sim.Place) schedule.Action {
	a := schedule.Action{Verb: schedule.Kill, Node: p, Down: c.down}
	if c.cause == sim.PowerLost {
		a.Verb = schedule.Power
	}
	return a
}

// began implements director: one node's faults come with requests.
func (i *improviser) began(schedule.Moment) {}

// started implements director: it may arm the crash that interrupts the recovery.
func (i *improviser) started(sim.Place) {
	c := i.again
	i.again = nil
	if c == nil || len(c.crash.again) == 0 {
		return
	}
	next := *c
	next.when, next.skip, next.crash.again = inAny, c.crash.again[0], c.crash.again[1:]
	i.armed = &next
}

// called implements director.
func (i *improviser) called(op sim.DiskOp) *schedule.Action {
	if c := i.armed; c != nil && c.when.fits(op.Kind) {
		if c.skip == 0 {
			i.armed, i.again = nil, c
			a := c.action(op.Place)
			return &a
		}
		c.skip--
	}
	return i.fail(op)
}

// fail draws whether a call fails.
func (i *improviser) fail(op sim.DiskOp) *schedule.Action {
	r := &i.plan.disk
	if i.spent >= r.budget || r.logsOnly && !strings.HasPrefix(op.Path.Name, topicName+"-") {
		return nil
	}
	a := drawDiskFault(i.stream, r, op)
	if a != nil {
		a.Node = op.Place
		if a.Verb != schedule.Slow {
			i.spent++
		}
	}
	return a
}

// drawDiskFault draws whether a call of a disk fails, and how.
func drawDiskFault(stream *sim.Stream, r *diskRates, op sim.DiskOp) *schedule.Action {
	hits := func(rate uint64) bool { return stream.Chance(rate, 4096) }
	switch {
	case hits(r.slow):
		return &schedule.Action{Verb: schedule.Slow, Span: stream.Delay(0, 100*sim.Millisecond)}
	case op.Kind == sim.DiskWrite && hits(r.write):
		return &schedule.Action{Verb: schedule.EIO, Bytes: stream.Between(0, op.Len)}
	case op.Kind == sim.DiskWrite && op.Len > 1 && hits(r.short):
		return &schedule.Action{Verb: schedule.Short, Bytes: stream.Between(0, op.Len-1)}
	case op.Kind == sim.DiskWrite && hits(r.full):
		return &schedule.Action{Verb: schedule.Full, Bytes: stream.Skewed(op.Len)}
	case op.Kind == sim.DiskSync && hits(r.sync), op.Kind == sim.DiskRead && hits(r.read),
		ofNames(op.Kind) && hits(r.names):
		return &schedule.Action{Verb: schedule.EIO}
	}
	return nil
}

// ofNames says whether a call changes names or sizes.
func ofNames(k sim.DiskOpKind) bool {
	return k == sim.DiskCreate || k == sim.DiskRename || k == sim.DiskSyncDir || k == sim.DiskRemove ||
		k == sim.DiskTruncate
}

// sent implements director.
func (i *improviser) sent(f sim.FrameInfo) *schedule.Action {
	r := &i.plan.net
	switch {
	case (r.only < 0 || r.only == f.Key) && i.stream.Chance(r.hold, 4096):
		return &schedule.Action{Verb: schedule.Hold, Span: i.stream.Delay(r.holdFor.Low, r.holdFor.High)}
	case f.Key == wire.KeyProduce && i.stream.Chance(r.reset, 4096):
		return &schedule.Action{Verb: schedule.Cut}
	case f.Key == wire.KeyProduce && i.stream.Chance(r.vanish, 4096):
		return &schedule.Action{Verb: schedule.Vanish}
	}
	return nil
}

// fates implements director.
func (i *improviser) fates() sim.PowerFates { return sim.NewRandomFates(i.stream) }
