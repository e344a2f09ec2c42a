package scenarios

import "stet/scenarios/schedule"

// clusterAntecedents are those of the checks that every scenario of clusters has something for.
func clusterAntecedents(more ...string) []string {
	return append([]string{
		"checked.H1", "checked.H2", "checked.L6", "checked.L8", "checked.L9", "checked.M1", "checked.M2", "checked.M3",
		"checked.Q1", "checked.Q2", "checked.Q3", "checked.Q4", "checked.Q5", "checked.Q6", "checked.Q7", "checked.Q8",
		"checked.Q9", "checked.Q10", "checked.R7", "checked.R12",
		"history.Q9.changes", "history.Q9.observations", "history.Q9.porcupine", "history.Q9.resolved.unknown",
	}, more...)
}

// controllerFailover takes the active controller away, again and again: killed, without power, paused,
// stopped cleanly, cut off.
func controllerFailover() *Scenario {
	return &Scenario{
		Name:        "controller-failover",
		Description: "the active controller dies, pauses, stops or is cut off, again and again",
		Floors: Floors{
			CrashPercent: crashPercent, InFlightPercent: inFlightPercent,
			Antecedents: clusterAntecedents("faults.active_controller"),
		},
		cluster: func(d draw, p *clusterPlan) {
			p.shape(d, 1, 3, 3, 3, 5)
			p.operate(d, everything, int(d.Between(2, 4)), int(d.Between(50, 90)))
			p.deaths(d, int(d.Between(2, 6)), schedule.Kill, schedule.Kill, schedule.Power)
			p.nuisances(d, d.Index(3), schedule.Pause, schedule.Stop)
			p.cuts(d, d.Index(2))
			p.holdBacks(d, d.Index(3))
			p.lapses(d, d.Index(3))
			p.chains(d, d.Index(2))
		},
	}
}
