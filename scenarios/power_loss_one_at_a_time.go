package scenarios

import "stet/scenarios/schedule"

// powerLossOneAtATime takes the power of one machine after the other, the next only when every replica
// is whole again. What was acknowledged stands, synced or not: P1 with a budget of one.
func powerLossOneAtATime() *Scenario {
	return &Scenario{
		Name:        "power-loss-one-at-a-time",
		Description: "machines lose power with unsynced records, one at a time, in the middle of a batch",
		Floors: Floors{
			CrashPercent: crashPercent, InFlightPercent: inFlightPercent,
			Antecedents: replicationAntecedents("replicas.damaged", "checked.R6", "replicas.isr_shrinks", "replicas.isr_expansions"),
		},
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 3)
			p.Replicas.MinISR = pick(d, int16(0), 0, 2)
			p.faults.oneAtATime = true
			p.deaths(d, int(d.Between(3, 8)), schedule.Power, schedule.Power, schedule.Power, schedule.Kill)
			p.nuisances(d, d.Index(3), schedule.Pause, schedule.Reset, schedule.SlowDisk)
			if d.Chance(1, 2) {
				p.bereave(d)
			}
			p.partitions(d, d.Index(2), d.Chance(1, 2), followerOne, leaderOne)
		},
	}
}
