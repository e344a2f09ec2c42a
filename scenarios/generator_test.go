package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios/schedule"
	"stet/sim"
)

// generatorDigest is of the plans of the first seeds. A canary is scored only with a generator that is
// older than the canary: whoever changes what is drawn changes this line, says so in TRACK_RECORD.md,
// and scores the canaries anew.
const generatorDigest = "b3a2499c5ec4c9e840f47d065d0fd150"

func plans(t *testing.T, seeds uint64, f func(*Scenario, *plan)) {
	t.Helper()
	for _, s := range All() {
		for seed := uint64(1); seed <= seeds && s.cluster == nil; seed++ {
			f(s, planOf(s, seed, Options{}))
		}
	}
}

func TestTheGeneratorIsFrozen(t *testing.T) {
	h := sha256.New()
	plans(t, 50, func(s *Scenario, p *plan) {
		fmt.Fprintf(h, "%s\n%s%+v\n", s.Name, p.Schedule, p.faults)
	})
	require.Equal(t, generatorDigest, hex.EncodeToString(h.Sum(nil)[:16]),
		"the generator draws something else")
}

// TestTheBudgetIsRecoverable holds every plan to what the promise covers: nothing that a fault does
// destroys what the medium has, deaths and waits end well within the time for faults, and a bounded
// number of calls fails. After them everything is healed: see run.play.
func TestTheBudgetIsRecoverable(t *testing.T) {
	plans(t, 500, func(s *Scenario, p *plan) {
		require.Empty(t, p.Faults, "a plan has only strikes and rates: what they may do is listed below")
		require.LessOrEqual(t, p.faults.disk.budget, 12)
		require.LessOrEqual(t, p.faults.net.holdFor.High, 2*sim.Second)
		require.GreaterOrEqual(t, p.Clients.Impatience.High, 15*p.World.Link.Delay.High,
			"a client that never waits for an answer gets none")
		var down, waits sim.Time
		wrong := max(p.World.Offset, -p.World.Offset) + p.World.BootLeap // of the wall clock, at most
		for _, strike := range p.faults.strikes {
			switch strike.kind {
			case strikeCrash:
				require.LessOrEqual(t, len(strike.crash.again), 3)
				down += strike.crash.down * sim.Time(1+len(strike.crash.again))
			case strikeClock:
				wrong += max(strike.span, -strike.span)
			default:
				waits += strike.span
			}
		}
		require.Less(t, down+waits, 2*faultTime, s.Name)
		require.Less(t, wrong+sim.Minute, 60*sim.Minute, "records from further ahead are refused")
	})
	for verb := range diskKinds {
		destroys := verb == schedule.Flip || verb == schedule.Latent || verb == schedule.Misplace
		require.Equal(t, destroys, !improvised(verb), "%s", verb)
	}
}

// improvised says whether a plan's rates can lead to a fault: every way that draw has.
func improvised(v schedule.Verb) bool {
	if v == schedule.Kill || v == schedule.Power {
		return true
	}
	for seed := range uint64(4) {
		stream, rates := sim.NewEntropy(seed).Stream("x", 0), &diskRates{
			write: 1000, short: 1000, full: 1000, sync: 1000, read: 1000, names: 1000, slow: 1000,
		}
		for n := range 2000 {
			op := sim.DiskOp{Kind: sim.DiskOpKind(n % int(sim.DiskSyncDir+1)), Len: 100}
			if a := drawDiskFault(stream, rates, op); a != nil && a.Verb == v {
				return true
			}
		}
	}
	return false
}

// TestEveryKnobIsTurned counts the seeds that turn each knob of the generator: none may be stuck.
func TestEveryKnobIsTurned(t *testing.T) {
	turned := map[string]int{}
	count := func(name string, yes bool) {
		if yes {
			turned[name]++
		}
	}
	total := 0
	plans(t, 200, func(_ *Scenario, p *plan) {
		total++
		crashes, again, twice := 0, false, false
		for i, s := range p.faults.strikes {
			if s.kind == strikeCrash {
				crashes++
				again = again || len(s.crash.again) > 0
				twice = twice || i > 0 && p.faults.strikes[i-1].kind == strikeCrash &&
					p.faults.strikes[i-1].producer == s.producer && s.send-p.faults.strikes[i-1].send < 3
			}
		}
		count("restarts without records between", twice)
		count("one kind of request held back", p.faults.net.hold > 0 && p.faults.net.only >= 0)
		count("power loss", anyStrike(p, func(s *strike) bool {
			return s.kind == strikeCrash && s.crash.cause == sim.PowerLost
		}))
		count("tiny segments", p.Node.Broker.Topic.SegmentBytes <= 6<<10)
		count("snapshots of metadata every few records", p.Node.Controller.Quorum.SnapshotEntries <= 10)
		count("clock steps", anyStrike(p, func(s *strike) bool { return s.kind == strikeClock }))
		count("clock leaps at boot", p.World.BootLeap > 0)
		count("a wrong clock", p.World.Drift != 0 || p.World.Offset != 0)
		count("crash in recovery", again)
		impatient, overflow, keyed := false, false, false
		for i := range p.Producers {
			producer := &p.Producers[i]
			impatient = impatient || producer.InFlight == 5 && producer.Idempotent &&
				p.Clients.Impatience.Low < 100*sim.Millisecond
			overflow = overflow || producer.FirstSequence > 1<<30
			for _, send := range producer.Sends {
				for _, r := range send.Records {
					keyed = keyed || r.Key == 1
				}
			}
		}
		count("five in flight, impatient", impatient)
		count("sequences near overflow", overflow)
		count("keys shaped like control records'", keyed)
		count("topic deleted and created again", p.Topic.Side)
		count("slow network", p.World.Link.Delay.Low >= sim.Millisecond)
		count("slow disk", p.World.Disk.Sync.Low >= sim.Millisecond)
		count("flush mode", p.FlushMode())
		count("no flush mode", !p.FlushMode())
		count("small batches only", p.Node.Broker.Topic.MaxMessageBytes < 1000)
	})
	for name, n := range turned {
		t.Logf("%4d of %d seeds: %s", n, total, name)
		require.Greater(t, n, total/50, name)
	}
	require.Len(t, turned, 18)
}

func anyStrike(p *plan, f func(*strike) bool) bool {
	for i := range p.faults.strikes {
		if f(&p.faults.strikes[i]) {
			return true
		}
	}
	return false
}
