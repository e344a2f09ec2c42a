package scenarios

import (
	"stet/core/wire"
	"stet/sim"
)

// faultPlan is what a seed wants to go wrong: strikes, which come when a producer starts a request,
// so that something is in flight, however fast the run goes; and how often calls of the disk and
// frames fail. The improviser makes it happen.
type faultPlan struct {
	strikes []strike
	disk    diskRates
	net     netRates
}

// strike is one fault that comes a little after the first try of a send of a producer.
type strike struct {
	producer, send int
	delay          sim.Time
	kind           strikeKind
	crash          crash     // for a crash
	span           sim.Time  // of a stall, a pause, a slow disk; the step of a clock
	by             sim.Time  // what a slow disk takes longer
	client         sim.Place // whom a reset or a stall hits
	both           bool      // a stall of both directions
}

type strikeKind uint8

const (
	strikeCrash strikeKind = iota
	strikeReset
	strikeStall
	strikeClock
	strikePause
	strikeSlowDisk
	strikeKindCount
)

// crash is a death of the process or of the machine, and what follows.
type crash struct {
	cause sim.Cause
	when  moment
	skip  int      // disk calls that fit and are passed over
	down  sim.Time // until the restart
	again []int    // disk calls after which the next recoveries are interrupted, one after the other
}

// moment says during which call of the disk a crash comes.
type moment uint8

const (
	atOnce moment = iota
	inWrite
	inSync
	inName // of names: create, rename, remove, directory sync
	inAny
	momentCount
)

// fits says whether the crash may come during a call.
func (m moment) fits(k sim.DiskOpKind) bool {
	switch m {
	case inWrite:
		return k == sim.DiskWrite
	case inSync:
		return k == sim.DiskSync || k == sim.DiskSyncDir
	case inName:
		return k == sim.DiskCreate || k == sim.DiskRename || k == sim.DiskRemove ||
			k == sim.DiskSyncDir || k == sim.DiskTruncate
	}
	return m == inAny
}

// diskRates say how many of 4096 calls of a kind fail.
type diskRates struct {
	write, short, full, sync, read, names, slow uint64
	logsOnly                                    bool // else every file below the data directory
	budget                                      int  // most faults of a run
}

// netRates say how many of 4096 frames meet a fault.
type netRates struct {
	hold, reset, vanish uint64
	holdFor             sim.Interval
	only                int16 // the API key that is held back, -1 for all
}

// crashes adds crashes at drawn moments, now and then two in a row.
func (p *plan) crashes(d draw, count int, cause func() sim.Cause) {
	for range count {
		s := p.moment(d)
		s.kind, s.crash = strikeCrash, newCrash(d, cause())
		p.faults.strikes = append(p.faults.strikes, s)
		if d.Chance(1, 4) {
			s.send, s.delay = s.send+d.Index(3), d.Delay(0, 2*sim.Millisecond)
			s.crash = newCrash(d, cause())
			p.faults.strikes = append(p.faults.strikes, s)
		}
	}
}

// moment draws when a strike comes: the request is on its way.
func (p *plan) moment(d draw) strike {
	n := d.Index(p.SendCount())
	at := 0
	for n >= len(p.Producers[at].Sends) {
		n -= len(p.Producers[at].Sends)
		at++
	}
	return strike{producer: p.Producers[at].ID, send: n + 1, delay: d.Delay(0, 2*sim.Millisecond)}
}

func newCrash(d draw, cause sim.Cause) crash {
	c := crash{
		cause: cause, when: moment(d.Index(int(momentCount))), skip: int(d.Skewed(6)),
		down: d.Delay(sim.Millisecond, pick(d, sim.Time(5), 200, 3000)*sim.Millisecond),
	}
	if d.Chance(1, 3) {
		for range d.Between(1, 3) {
			c.again = append(c.again, int(d.Skewed(60)))
		}
	}
	return c
}

// others adds faults that damage nothing: of the network, the clocks, the scheduling.
func (p *plan) others(d draw, count int) {
	for range count {
		s := p.moment(d)
		s.kind = strikeKind(d.Between(1, int64(strikeKindCount)-1))
		s.client, s.both = p.someClient(d), d.Chance(1, 2)
		switch s.kind {
		case strikeClock:
			s.span = d.Delay(-10*sim.Minute, 10*sim.Minute)
		case strikeSlowDisk:
			s.span = d.Delay(sim.Millisecond, 500*sim.Millisecond)
			s.by = d.Delay(0, 20*sim.Millisecond)
		default:
			s.span = d.Delay(sim.Millisecond, pick(d, sim.Time(50), 1000, 5000)*sim.Millisecond)
		}
		p.faults.strikes = append(p.faults.strikes, s)
	}
}

// someClient draws the place of a client.
func (p *plan) someClient(d draw) sim.Place {
	if d.Chance(1, 4) {
		return sim.ClientPlace + sim.Place(p.Consumers[d.Index(len(p.Consumers))].ID)
	}
	return sim.ClientPlace + sim.Place(p.Producers[d.Index(len(p.Producers))].ID)
}

// network draws how often frames meet a fault. Now and then only one kind of request is held back.
func (p *plan) network(d draw) {
	p.faults.net = netRates{
		hold: pick(d, uint64(0), 40, 200), reset: pick(d, uint64(0), 0, 10, 40),
		vanish:  pick(d, uint64(0), 0, 0, 4),
		holdFor: sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(20), 200, 2000) * sim.Millisecond},
		only:    pick(d, int16(-1), -1, -1, wire.KeyProduce, wire.KeyFetch, wire.KeyInitProducerID),
	}
}
