package scenarios

import "stet/sim"

// singleNodePowerLoss cuts the power of the only node's machine.
//
// It draws one to four crashes, three quarters of them power losses and the others kills, at the
// moments of single-node-kill. What the disk keeps of unsynced pages, sizes and names is drawn page
// by page and sector by sector. Half of the seeds are in flush mode, where acknowledged means
// synced and nothing is excused; in the others a loss excuses what lay above the last completed
// sync.
func singleNodePowerLoss() *Scenario {
	return &Scenario{
		Name:        "single-node-power-loss",
		Description: "power loss of one node; excused is only what no sync had covered",
		mayExcuse:   true,
		Floors: Floors{
			CrashPercent: crashPercent, InFlightPercent: inFlightPercent, ExcusedPercent: excusedPercent,
			Antecedents: antecedents("checked.S9", "faults.pages_dropped",
				"faults.recoveries_interrupted", "faults.torn_tails"),
			Rare: []string{"checked.H4", "history.H8.polls-across-a-loss"},
		},
		adapt: func(d draw, p *plan) {
			cause := func() sim.Cause { return pick(d, sim.PowerLost, sim.PowerLost, sim.PowerLost, sim.Killed) }
			p.workload(d, p.producers(d, 1, 3))
			p.crashes(d, int(d.Between(1, 4)), cause)
			p.others(d, d.Index(3))
			if d.Chance(1, 4) {
				p.network(d)
			}
		},
	}
}
