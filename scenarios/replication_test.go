package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios/schedule"
	"stet/sim"
)

func TestARecordedRunOfReplicationReplays(t *testing.T) {
	r := Run(failover(), 3, Options{Record: true})
	require.Equal(t, Passed, r.Check, "%v", r.Evidence)
	back, err := schedule.Parse(strings.NewReader(r.Schedule.String()))
	require.NoError(t, err)
	again := Run(failover(), back.Seed, Options{Schedule: back})
	require.Equal(t, r.Hash, again.Hash)
	require.Empty(t, again.Missed)
	require.NotEmpty(t, back.Faults)
}

// TestTheBudgetOfReplicationIsRecoverable holds every plan to what the run has time for.
func TestTheBudgetOfReplicationIsRecoverable(t *testing.T) {
	for _, s := range Replication() {
		blind, eight := 0, 0
		for seed := range uint64(100) {
			p := replicationPlanOf(s, seed+1, Options{})
			require.Empty(t, p.Faults)
			require.LessOrEqual(t, int(p.Replicas.Factor), len(p.brokers()), s.Name)
			require.NotEmpty(t, p.controllers())
			require.GreaterOrEqual(t, p.Clients.Impatience.High, 60*p.World.Link.Delay.High,
				"a client that never waits for an answer gets none")
			if p.Replicas.BlackBox {
				blind++
				require.EqualValues(t, 1, p.Topic.Partitions)
			}
			if len(p.Producers) >= 8 && p.Topic.Partitions == 1 {
				eight++
			}
			for _, x := range p.faults.strikes {
				require.LessOrEqual(t, x.crash.down, 10*sim.Second)
				if x.verb != schedule.Clock {
					require.LessOrEqual(t, x.span, 20*sim.Second)
				}
			}
			require.NoError(t, reparsed(p.Schedule))
		}
		require.Greater(t, blind, 5, s.Name)
		require.Equal(t, blind, eight, s.Name)
	}
}

func TestABlackBoxHistoryHasNothingThatClientsCanNotKnow(t *testing.T) {
	seed := uint64(1)
	for !replicationPlanOf(failover(), seed, Options{}).Replicas.BlackBox {
		seed++
	}
	r := newReplicationRun(failover(), seed, Options{})
	r.play()
	r.close()
	require.Empty(t, r.findings.failed, "%v", r.findings.evidence)
	h := r.recorder.finish()
	require.Empty(t, h.Dumps)
	require.Empty(t, h.Excuses)
	for i := range h.Polls {
		require.Nil(t, h.Polls[i].Ghost)
	}
	require.GreaterOrEqual(t, len(r.plan.Producers), 8)
}
