package scenarios

import "stet/scenarios/schedule"

// quorumPartition cuts controllers and brokers off from each other, both ways or one, and holds back,
// resets and loses frames between them.
func quorumPartition() *Scenario {
	return &Scenario{
		Name:        "quorum-partition",
		Description: "controllers and brokers are cut off from each other, one way or both",
		Floors:      Floors{Antecedents: clusterAntecedents()},
		cluster: func(d draw, p *clusterPlan) {
			p.shape(d, 3, 3, 5)
			p.operate(d, everything, int(d.Between(2, 4)), int(d.Between(50, 90)))
			p.cuts(d, int(d.Between(3, 9)))
			p.holdBacks(d, d.Index(4))
			p.lapses(d, d.Index(4))
			p.network(d)
			p.nuisances(d, d.Index(3), schedule.Pause, schedule.Reset, schedule.Reset)
			p.deaths(d, d.Index(2), schedule.Kill)
		},
	}
}
