package scenarios

import "stet/scenarios/schedule"

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
// It draws two to seven deaths, most of a leader while a batch is under way, many on the heels of
// another, so that whoever has just been elected dies as well, and a few short pauses.
func failover() *Scenario {
	return &Scenario{
		Name:        "failover",
		Description: "leaders are killed in the middle of a batch, and come back; others lead meanwhile",
		Floors: Floors{
			CrashPercent: crashPercent, InFlightPercent: inFlightPercent, Antecedents: replicationAntecedents(),
		},
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 1)
			p.deaths(d, int(d.Between(2, 7)), schedule.Kill)
			p.nuisances(d, d.Index(3), schedule.Pause, schedule.Reset)
		},
	}
}
