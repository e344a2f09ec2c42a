package scenarios

import (
	"stet/core/wire"
	"stet/scenarios/schedule"
	"stet/sim"
)

// replicationAntecedents are those of the checks that every scenario of replication has something for.
func replicationAntecedents(more ...string) []string {
	return append([]string{
		"checked.A4", "checked.A4-porcupine", "checked.H1", "checked.H2", "checked.H2-ack", "checked.H3", "checked.H5",
		"checked.H6", "checked.H7", "checked.H8", "checked.H9", "checked.H10", "checked.H11", "checked.H12", "checked.L1",
		"checked.L2", "checked.L6", "checked.L8", "checked.P1", "checked.P2", "checked.P3", "checked.P4", "checked.Q10",
		"checked.R1", "checked.R2", "checked.R3", "checked.R5", "checked.R7", "checked.R8", "checked.R9", "checked.R10",
		"checked.R11", "checked.R12", "checked.R14", "checked.S3", "client.attempts.lost", "client.polls.with_records",
		"client.code.NOT_LEADER_OR_FOLLOWER", "replicas.elections_without_records",
	}, more...)
}

// failover has leaders die in the middle of what they are doing, by kill -9, and come back.
//
// It draws four to nine deaths, most of a leader while a batch is under way, many on the heels of
// another, so that whoever has just been elected dies as well, and a few short pauses. In half of the runs
// fetches are late now and then: followers lag, and know of a high watermark that does.
func failover() *Scenario {
	return &Scenario{
		Name:        "failover",
		Description: "leaders are killed in the middle of a batch, and come back; others lead meanwhile",
		Floors: Floors{
			CrashPercent: crashPercent, InFlightPercent: inFlightPercent, Antecedents: replicationAntecedents("replicas.truncations"),
			Rare: []string{"replicas.divergences"},
		},
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 1)
			p.deaths(d, int(d.Between(4, 9)), schedule.Kill)
			for i := range p.faults.strikes {
				if d.Chance(1, 2) {
					p.faults.strikes[i].target = leaderOne
				}
			}
			p.nuisances(d, d.Index(3), schedule.Pause, schedule.Reset)
			if d.Chance(1, 2) {
				p.faults.net = netRates{
					hold: pick(d, uint64(200), 1000), only: wire.KeyFetch,
					holdFor: sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(20), 200) * sim.Millisecond},
				}
			}
		},
	}
}
