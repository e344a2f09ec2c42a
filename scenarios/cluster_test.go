package scenarios

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios/schedule"
	"stet/sim"
)

// alone is a scenario of a cluster with one controller and as many brokers as it likes.
func alone() *Scenario {
	return &Scenario{Name: "controller-failover", cluster: func(d draw, p *clusterPlan) {
		p.shape(d, 1)
		p.operate(d, everything, 3, 50)
		p.deaths(d, 3, schedule.Kill, schedule.Power)
		p.cuts(d, 2)
		p.network(d)
		p.nuisances(d, 2, schedule.Pause, schedule.Reset, schedule.Stop, schedule.Clock)
		for i := range p.Operators { // replicas do not follow yet
			for j := range p.Operators[i].Operations {
				p.Operators[i].Operations[j].Replicas = min(1, p.Operators[i].Operations[j].Replicas)
			}
		}
	}}
}

func TestARecordedRunOfAClusterReplays(t *testing.T) {
	faults := 0
	for seed := range uint64(4) {
		r := Run(alone(), seed+1, Options{Record: true})
		back, err := schedule.Parse(strings.NewReader(r.Schedule.String()))
		require.NoError(t, err)
		again := Run(alone(), back.Seed, Options{Schedule: back})
		require.Equal(t, r.Hash, again.Hash, "seed %d", seed+1)
		require.Equal(t, r.Check, again.Check, "seed %d", seed+1)
		require.Empty(t, again.Missed)
		faults += len(back.Faults)
	}
	require.Positive(t, faults)
}

func TestASeedOfAClusterRepeats(t *testing.T) {
	for _, s := range Clusters() {
		a, b := Run(s, 1, Options{MaxEvents: 3000}), Run(s, 1, Options{MaxEvents: 3000})
		require.Equal(t, a.Hash, b.Hash, s.Name)
	}
}

// A machine that a schedule leaves out leaves its place empty, and the others where they are.
func TestAMachineMayBeLeftOut(t *testing.T) {
	p := clusterPlanOf(alone(), 3, Options{Calm: true})
	for len(p.Machines) < 3 {
		p.Machines = append(p.Machines, schedule.Machine{
			ID: len(p.Machines) + 1, MachineSettings: schedule.MachineSettings{Broker: true},
		})
	}
	p.Machines = append(p.Machines[:1:1], p.Machines[2:]...)
	require.NotEqual(t, 2, p.Machines[1].ID)
	r := Run(alone(), 3, Options{Schedule: p.Schedule})
	require.Equal(t, Passed, r.Check, "%v", r.Evidence)
}

func reparsed(s *schedule.Schedule) error {
	_, err := schedule.Parse(strings.NewReader(s.String()))
	return err
}

func TestARollingUpgradeReplays(t *testing.T) {
	for _, seed := range []uint64{4, 5} {
		r := Run(mixedVersions(), seed, Options{Record: true})
		require.Equal(t, Passed, r.Check, "%v", r.Evidence)
		require.EqualValues(t, 1, r.Counters["upgrade.raised"], "seed %d", seed)
		require.Contains(t, r.Schedule.String(), " upgrade node=")
		back, err := schedule.Parse(strings.NewReader(r.Schedule.String()))
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(back.Machines, func(m schedule.Machine) bool { return m.Level == 1 }))
		again := Run(mixedVersions(), back.Seed, Options{Schedule: back})
		require.Equal(t, r.Hash, again.Hash, "seed %d", seed)
		require.Empty(t, again.Missed)
	}
}

// TestAMachineThatNobodyUpgradesStaysOut is about schedules that were made smaller: old software that
// came when the level was in force already is refused, and nothing is expected of it.
func TestAMachineThatNobodyUpgradesStaysOut(t *testing.T) {
	p := clusterPlanOf(alone(), 3, Options{Calm: true})
	p.joiner(draw{sim.NewEntropy(1).Stream("plan", 0)}, true, 1, sim.Second)
	p.Machines[len(p.Machines)-1].Broker = true
	r := Run(alone(), 3, Options{Schedule: p.Schedule})
	require.Equal(t, Passed, r.Check, "%v", r.Evidence)
	require.Positive(t, r.Counters["upgrade.outdated_ended"])
}
