package scenarios

import "stet/scenarios/schedule"

// asymmetricPartition has machines that are heard and hear nothing, or the other way round: a leader
// whose followers do not get its answers, one that the controllers do not hear of, a follower that asks
// and is not told.
func asymmetricPartition() *Scenario {
	return &Scenario{
		Name:        "asymmetric-partition",
		Description: "frames between leaders, followers and controllers get through one way only",
		Floors: Floors{
			InFlightPercent: inFlightPercent / 2, // a strike that cuts or stops lets go on what is under way
			Antecedents:     replicationAntecedents("replicas.isr_shrinks", "replicas.isr_expansions"),
		},
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 2)
			p.partitions(d, int(d.Between(3, 7)), false, leaderOne, followerOne, activeOne, anyOne)
			p.network(d)
			p.deaths(d, d.Index(2), schedule.Kill)
		},
	}
}
