package scenarios

import "stet/scenarios/schedule"

// kitchenSink has everything that the others have, some of it in each seed, and operators who
// administer other topics meanwhile.
func kitchenSink() *Scenario {
	return &Scenario{
		Name:        "kitchen-sink",
		Description: "some of everything: deaths, power losses, partitions, pauses, clocks, slow and failing disks",
		Floors: Floors{
			InFlightPercent: inFlightPercent, ExcusedPercent: excusedPercent,
			Antecedents: replicationAntecedents("replicas.isr_shrinks", "replicas.isr_expansions", "replicas.truncations"),
		},
		mayExcuse: true,
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 1)
			if p.Replicas.BlackBox { // clients can not know what power took, so it may take nothing (P3)
				p.Node.Broker.Topic.FlushMessages = 1
			}
			p.faults.oneAtATime = d.Chance(3, 4)
			p.deaths(d, int(d.Between(1, 6)), schedule.Kill, schedule.Power)
			p.partitions(d, d.Index(4), d.Chance(1, 2), leaderOne, leaderOne, followerOne, anyOne)
			p.nuisances(d, d.Index(5), schedule.Pause, schedule.Reset, schedule.Clock, schedule.SlowDisk, schedule.Stop)
			if d.Chance(1, 2) {
				p.network(d)
			}
			if d.Chance(1, 3) {
				p.operate(d, everything, 1, int(d.Between(10, 40)))
			}
		},
	}
}
