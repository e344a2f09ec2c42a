package scenarios

import (
	"stet/core/kafka"
	"stet/scenarios/schedule"
	"stet/sim"
)

// clusterFaults is what a seed wants to go wrong in a cluster. The improviser makes it happen.
type clusterFaults struct {
	strikes []clusterStrike
	disk    diskRates
	net     netRates
	// oneAtATime has a machine lose power only while every replica is whole.
	oneAtATime bool
}

// clusterStrike is one fault. It comes a little after a try of an operation, or a while after a moment
// of the run.
type clusterStrike struct {
	operator, operation int // or a producer and its send
	since               schedule.Moment
	delay               sim.Time

	verb   schedule.Verb
	target target
	same   bool   // the machine is that of the strike before, if that has come
	peer   target // of a Stall and a Reset between machines; none: all others, one at a time
	crash  crash  // of a Kill and a Power; its down of a Stop and a Wipe
	span   sim.Time
	by     sim.Time
	both   bool
	key    int16 // of a Hold: the kind of request

	partition kafka.PartitionID // whose leader or follower is meant
	node      int               // of nodeOne
}

// target is whom a strike hits: it is known when it comes.
type target uint8

const (
	everyOther target = iota // of a peer: all machines but the target
	activeOne                // the machine of the active controller, or any controller
	passiveOne               // that of a controller that is not active
	brokerOne
	anyOne
	clientOne      // of a peer: the operator whose operation it was
	leaderOne      // who leads a partition
	followerOne    // one of its other replicas
	controllersAll // of a peer: all controllers, one at a time
	nodeOne        // the machine of a node
	followersAll   // of a peer: all other replicas of the partition, one at a time
)

// strike draws when a strike comes.
func (p *clusterPlan) strike(d draw) clusterStrike {
	s := clusterStrike{target: pick(d, activeOne, activeOne, passiveOne, brokerOne, anyOne)}
	if d.Chance(1, 4) {
		s.since, s.delay = schedule.Work, d.Delay(0, 20*sim.Second)
		return s
	}
	o := &p.Operators[d.Index(len(p.Operators))]
	s.operator, s.operation = o.ID, 1+d.Index(len(o.Operations))
	s.delay = d.Delay(0, pick(d, sim.Time(1), 10, 100)*sim.Millisecond)
	return s
}

// death draws how the machine of a strike dies and for how long it is down.
func (s *clusterStrike) death(d draw) {
	cause := sim.Killed
	if s.verb == schedule.Power {
		cause = sim.PowerLost
	}
	s.crash = newCrash(d, cause)
	s.crash.down = d.Delay(sim.Millisecond, pick(d, sim.Time(100), 2000, 10_000)*sim.Millisecond)
}

// deaths adds processes and machines that die.
func (p *clusterPlan) deaths(d draw, count int, verbs ...schedule.Verb) {
	for range count {
		s := p.aim(d)
		s.verb = verbs[d.Index(len(verbs))]
		s.death(d)
		p.faults.strikes = append(p.faults.strikes, s)
		if d.Chance(1, 4) { // another one on its heels
			s.delay += d.Delay(0, 500*sim.Millisecond)
			s.target = pick(d, activeOne, passiveOne, anyOne)
			p.faults.strikes = append(p.faults.strikes, s)
		}
	}
}

// cuts adds machines that do not hear from some others, or are not heard, for a while.
func (p *clusterPlan) cuts(d draw, count int) {
	for range count {
		s := p.aim(d)
		s.verb, s.peer = schedule.Stall, pick(d, everyOther, everyOther, anyOne, activeOne, passiveOne, clientOne)
		s.both = d.Chance(1, 2)
		s.span = d.Delay(10*sim.Millisecond, pick(d, sim.Time(500), 5000, 20_000)*sim.Millisecond)
		p.faults.strikes = append(p.faults.strikes, s)
	}
}

// nuisances adds faults that damage nothing: pauses, clocks, slow disks, resets.
func (p *clusterPlan) nuisances(d draw, count int, verbs ...schedule.Verb) {
	for range count {
		s := p.aim(d)
		s.verb, s.peer = verbs[d.Index(len(verbs))], pick(d, anyOne, activeOne)
		switch s.verb {
		case schedule.Clock:
			s.span = d.Delay(-10*sim.Minute, 10*sim.Minute)
		case schedule.SlowDisk:
			s.span = d.Delay(sim.Millisecond, 2*sim.Second)
			s.by = d.Delay(0, 50*sim.Millisecond)
		default:
			s.span = d.Delay(sim.Millisecond, pick(d, sim.Time(100), 3000, 15_000)*sim.Millisecond)
		}
		p.faults.strikes = append(p.faults.strikes, s)
	}
}

// network draws how often frames meet a fault.
func (p *clusterPlan) network(d draw) {
	p.faults.net = netRates{
		hold: pick(d, uint64(0), 10, 60), reset: pick(d, uint64(0), 0, 4, 16), vanish: pick(d, uint64(0), 0, 0, 2),
		holdFor: sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(20), 500, 3000) * sim.Millisecond},
		only:    -1,
	}
}

// disks draws how often calls of disks fail.
func (p *clusterPlan) disks(d draw) {
	rate := func() uint64 { return pick(d, uint64(0), 0, 4, 20) }
	p.faults.disk = diskRates{
		write: rate(), short: rate(), full: rate(), sync: rate() * 2, read: rate(), names: rate(), slow: rate(),
		budget: int(d.Between(1, 8)),
	}
}
