package scenarios

import "stet/scenarios/schedule"

// clockChaos gives every machine clocks that are wrong, drift, leap at a boot and are set, and pauses
// processes.
func clockChaos() *Scenario {
	return &Scenario{
		Name:        "clock-chaos",
		Description: "the clocks of all machines are wrong, drift, leap and step; processes pause",
		Floors:      Floors{Antecedents: clusterAntecedents()},
		cluster: func(d draw, p *clusterPlan) {
			p.shape(d, 1, 3, 5)
			p.clocks(d, 8)
			p.operate(d, everything, int(d.Between(2, 4)), int(d.Between(50, 90)))
			p.nuisances(d, int(d.Between(4, 10)), schedule.Clock, schedule.Clock, schedule.Pause)
			p.deaths(d, d.Index(3), schedule.Kill, schedule.Power)
		},
	}
}
