package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/wire"
	"stet/scenarios/schedule"
	"stet/sim"
)

// clusterGeneratorDigest is for clusters what generatorDigest is for one node.
const clusterGeneratorDigest = "d3054513c1a807ba4ad2fb3a62f761f7"

// clusterPlans draws the plans of the first seeds of all scenarios of clusters.
func clusterPlans(seeds uint64, f func(*Scenario, *clusterPlan)) {
	for _, s := range Clusters() {
		for seed := uint64(1); seed <= seeds; seed++ {
			f(s, clusterPlanOf(s, seed, Options{}))
		}
	}
}

func TestTheGeneratorOfClustersIsFrozen(t *testing.T) {
	h := sha256.New()
	// What only scenarios of replication draw is not of it, and is the same everywhere here.
	shown := strings.NewReplacer(" oneAtATime:false", "", " partition:0 node:0", "")
	clusterPlans(100, func(s *Scenario, p *clusterPlan) {
		fmt.Fprintf(h, "%s\n%s%s\n", s.Name, p.Schedule, shown.Replace(fmt.Sprintf("%+v", p.faults)))
	})
	require.Equal(t, clusterGeneratorDigest, hex.EncodeToString(h.Sum(nil)[:16]),
		"the generator draws something else")
}

// TestEveryKnobOfAClusterIsTurned counts the seeds that turn each knob of the generator: none may be stuck.
func TestEveryKnobOfAClusterIsTurned(t *testing.T) {
	turned := map[string]int{}
	total := 0
	clusterPlans(100, func(_ *Scenario, p *clusterPlan) {
		total++
		count := func(name string, yes bool) {
			if yes {
				turned[name]++
			}
		}
		strikes := func(fits func(s, before *clusterStrike) bool) bool {
			for i := range p.faults.strikes {
				before := &clusterStrike{}
				if i > 0 {
					before = &p.faults.strikes[i-1]
				}
				if fits(&p.faults.strikes[i], before) {
					return true
				}
			}
			return false
		}
		dies := func(s *clusterStrike) bool { return s.verb == schedule.Kill || s.verb == schedule.Power }
		count("a kind of request held back", strikes(func(s, _ *clusterStrike) bool {
			return s.verb == schedule.Hold && s.key != wire.KeyQuorumMessages
		}))
		count("the quorum's messages held back", strikes(func(s, _ *clusterStrike) bool {
			return s.verb == schedule.Hold && s.key == wire.KeyQuorumMessages
		}))
		count("a pause within a cut", strikes(func(s, before *clusterStrike) bool {
			return s.verb == schedule.Pause && (before.verb == schedule.Hold || before.verb == schedule.Stall) &&
				before.span > s.span && before.delay == s.delay
		}))
		count("a death after a strike", strikes(func(s, _ *clusterStrike) bool { return s.same && dies(s) }))
		count("deaths in a row", strikes(func(s, before *clusterStrike) bool {
			return dies(s) && dies(before) && s.operation == before.operation && s.delay-before.delay < 4*sim.Second
		}))
		count("crash in recovery", strikes(func(s, _ *clusterStrike) bool { return dies(s) && len(s.crash.again) > 0 }))
		count("snapshots of metadata every few records", p.Node.Controller.Quorum.SnapshotEntries <= 3)
		count("few snapshots of metadata", p.Node.Controller.Quorum.SnapshotEntries >= 500)
		count("metadata in tiny pieces", p.Node.Broker.MetadataFetchBytes <= 300)
		count("tiny segments", p.Node.Broker.Topic.SegmentBytes <= 4<<10)
		count("a wrong clock", p.Machines[0].Drift != 0 || p.Machines[0].Offset != 0)
		home, rest := false, false
		for i := range p.Operators {
			via, resting := 0, 0
			for _, o := range p.Operators[i].Operations {
				if o.Via > 0 {
					via++
				}
				if o.After > 400*sim.Millisecond {
					resting++
				}
			}
			home = home || via == len(p.Operators[i].Operations)
			rest = rest || resting >= 4
		}
		count("an operator that asks one broker alone", home)
		count("operators that rest", rest)
	})
	for name, n := range turned {
		t.Logf("%4d of %d seeds: %s", n, total, name)
		require.Greater(t, n, total/50, name)
	}
	require.Len(t, turned, 13)
}
