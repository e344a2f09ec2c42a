package scenarios

import (
	"stet/core/wire"
	"stet/scenarios/schedule"
	"stet/sim"
)

// heldKinds are the requests of which one kind at a time is held back. Those of the quorum come more
// often: without them a controller is replaced, while clients and brokers still reach it.
var heldKinds = []int16{
	wire.KeyQuorumMessages, wire.KeyQuorumMessages, wire.KeyQuorumMessages,
	wire.KeyQuorumHello, wire.KeyQuorumSnapshot, wire.KeyMetadataFetch, wire.KeyBrokerHeartbeat,
}

// holdBacks adds machines of which one kind of request, and what is answered to it, is held back for a
// while, in both directions or in that which it sends.
func (p *clusterPlan) holdBacks(d draw, count int) {
	for range count {
		s := p.strike(d)
		s.verb, s.key, s.both = schedule.Hold, heldKinds[d.Index(len(heldKinds))], d.Chance(3, 4)
		s.span = d.Delay(100*sim.Millisecond, pick(d, sim.Time(1000), 5000, 20_000)*sim.Millisecond)
		p.faults.strikes = append(p.faults.strikes, s)
		p.aftermath(d, &s, s.span)
	}
}

// lapses adds machines that pause while they hear nothing of the others, or while the quorum's messages
// are held back. Some wake up before that ends: what has happened since, they do not know.
func (p *clusterPlan) lapses(d draw, count int) {
	for range count {
		pause := p.strike(d)
		pause.target = pick(d, activeOne, activeOne, activeOne, anyOne)
		pause.verb = schedule.Pause
		pause.span = d.Delay(sim.Millisecond, pick(d, sim.Time(1000), 4000, 10_000)*sim.Millisecond)
		cut := pause
		cut.verb, cut.both, cut.peer = schedule.Stall, true, everyOther
		if d.Chance(2, 3) {
			cut.verb, cut.key = schedule.Hold, wire.KeyQuorumMessages
		}
		cut.span = d.Delay(sim.Millisecond, min(2*pause.span+sim.Second, 20*sim.Second))
		p.faults.strikes = append(p.faults.strikes, cut, pause)
		p.aftermath(d, &pause, max(cut.span, pause.span))
	}
}

// aftermath has some machines die soon after a strike has ended, when they catch up with the others, and
// has the operators rest after some strikes: what happens then happens without a record.
func (p *clusterPlan) aftermath(d draw, of *clusterStrike, span sim.Time) {
	if d.Chance(1, 2) {
		s := *of
		s.same, s.verb = true, pick(d, schedule.Kill, schedule.Kill, schedule.Power)
		s.delay += d.Delay(max(0, span-patience), span+patience)
		s.death(d)
		p.faults.strikes = append(p.faults.strikes, s)
	}
	if of.operation > 0 && d.Chance(1, 2) {
		p.rest(d, int64(of.operation)+d.Between(1, 3))
	}
}

// lulls has the operators rest now and then.
func (p *clusterPlan) lulls(d draw, count int) {
	for range count {
		p.rest(d, d.Between(1, 50))
	}
}

// rest has all operators wait long for a few operations from one on.
func (p *clusterPlan) rest(d draw, from int64) {
	wait := d.Delay(100*sim.Millisecond, pick(d, sim.Time(500), 3000)*sim.Millisecond)
	for i := range p.Operators {
		operations := p.Operators[i].Operations
		for j := from; j < min(from+4, int64(len(operations))); j++ {
			operations[j].After = wait
		}
	}
}

// homes has some operators ask one broker for everything, as long as that answers.
func (p *clusterPlan) homes(d draw) {
	brokers := p.brokers()
	for i := range p.Operators {
		if !d.Chance(1, 2) {
			continue
		}
		home := brokers[d.Index(len(brokers))]
		for j := range p.Operators[i].Operations {
			p.Operators[i].Operations[j].Via = home
		}
	}
}

// chains adds deaths of the active controller that come one upon the other: elections with next to
// nothing between them, and restarts into the next one.
func (p *clusterPlan) chains(d draw, count int) {
	for range count {
		s := p.strike(d)
		s.verb = pick(d, schedule.Kill, schedule.Kill, schedule.Power)
		gap := pick(d, sim.Time(300), 1500, 4000) * sim.Millisecond
		for range d.Between(2, 4) {
			s.target = pick(d, activeOne, activeOne, anyOne)
			s.death(d)
			s.crash.down = d.Delay(sim.Millisecond, gap)
			p.faults.strikes = append(p.faults.strikes, s)
			s.delay += d.Delay(0, gap)
		}
	}
}
