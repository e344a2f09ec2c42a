package scenarios

import "stet/scenarios/schedule"

// controllerDiskLoss takes the directory of a controller away: it returns as a new voter. A majority
// of the voters keeps theirs at any moment. Disks lose power and fail beside that.
func controllerDiskLoss() *Scenario {
	return &Scenario{
		Name:        "controller-disk-loss",
		Description: "a controller loses its directory and returns as a new voter; disks lose power and fail",
		Floors: Floors{
			CrashPercent: crashPercent,
			Antecedents:  clusterAntecedents("faults.wiped"),
		},
		cluster: func(d draw, p *clusterPlan) {
			p.shape(d, 3, 3, 5)
			p.operate(d, everything, int(d.Between(2, 3)), int(d.Between(45, 80)))
			p.deaths(d, int(d.Between(1, 3)), schedule.Wipe)
			p.deaths(d, int(d.Between(1, 4)), schedule.Power, schedule.Power, schedule.Kill)
			p.holdBacks(d, d.Index(3))
			p.lapses(d, d.Index(3))
			p.chains(d, d.Index(2))
			if d.Chance(1, 2) {
				p.disks(d)
			}
		},
	}
}
