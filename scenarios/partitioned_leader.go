package scenarios

import "stet/scenarios/schedule"

// partitionedLeader cuts leaders off from the rest of the cluster, both ways, while clients still reach
// them: a deposed leader that does not know it takes records that it must not acknowledge, and shows
// what it has. When it is back, what nobody has acknowledged is cut.
func partitionedLeader() *Scenario {
	return &Scenario{
		Name:        "partitioned-leader",
		Description: "leaders are cut off from followers and controllers, and clients still reach them",
		Floors: Floors{
			InFlightPercent: inFlightPercent / 2, // a strike that cuts or stops lets go on what is under way
			Antecedents:     replicationAntecedents("replicas.isr_shrinks", "replicas.isr_expansions", "replicas.truncations"),
		},
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 2)
			p.partitions(d, int(d.Between(2, 5)), true, leaderOne, leaderOne, leaderOne, anyOne)
			p.nuisances(d, d.Index(2), schedule.Reset, schedule.Pause)
			p.deaths(d, d.Index(2), schedule.Kill)
		},
	}
}
