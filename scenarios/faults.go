package scenarios

import (
	"stet/sim"
)

// faultPlan is what a seed wants to go wrong, and when. Moments are counted in requests of
// producers, so that faults strike while something is in flight, however fast the run goes.
type faultPlan struct {
	strikes []strike
	disk    diskRates
	net     netRates
}

// strike is one fault that happens when so many requests have been started.
type strike struct {
	after int
	kind  strikeKind
	crash crash    // for a crash
	span  sim.Time // of a stall, a pause, a slow disk; the step of a clock
	both  bool     // a stall of both directions
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
	again int      // how often the recovery is interrupted
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
}

// crashes adds crashes at drawn moments, now and then two in a row.
func (f *faultPlan) crashes(d draw, count int, sends int, cause func() sim.Cause) {
	for range count {
		after := d.Index(sends)
		f.strikes = append(f.strikes, strike{after: after, kind: strikeCrash, crash: newCrash(d, cause())})
		if d.Chance(1, 4) {
			f.strikes = append(f.strikes, strike{
				after: after + d.Index(3), kind: strikeCrash,
				crash: newCrash(d, cause()),
			})
		}
	}
}

func newCrash(d draw, cause sim.Cause) crash {
	c := crash{
		cause: cause, when: moment(d.Index(int(momentCount))), skip: int(d.Skewed(6)),
		down: d.Delay(sim.Millisecond, pick(d, sim.Time(5), 200, 3000)*sim.Millisecond),
	}
	if d.Chance(1, 3) {
		c.again = int(d.Between(1, 3))
	}
	return c
}

// others adds faults that damage nothing: of the network, the clocks, the scheduling.
func (f *faultPlan) others(d draw, count int, sends int) {
	for range count {
		s := strike{
			after: d.Index(sends), kind: strikeKind(d.Between(1, int64(strikeKindCount)-1)),
			both: d.Chance(1, 2),
		}
		switch s.kind {
		case strikeClock:
			s.span = d.Delay(-10*sim.Minute, 10*sim.Minute)
		case strikeSlowDisk:
			s.span = d.Delay(sim.Millisecond, 500*sim.Millisecond)
		default:
			s.span = d.Delay(sim.Millisecond, pick(d, sim.Time(50), 1000, 5000)*sim.Millisecond)
		}
		f.strikes = append(f.strikes, s)
	}
}

func (f *faultPlan) network(d draw) {
	f.net = netRates{
		hold: pick(d, uint64(0), 40, 200), reset: pick(d, uint64(0), 0, 10, 40),
		vanish:  pick(d, uint64(0), 0, 0, 4),
		holdFor: sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(20), 200, 2000) * sim.Millisecond},
	}
}
