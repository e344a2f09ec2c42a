package scenarios

import "stet/sim"

// diskFaults fails calls of the only node's disk.
//
// It draws which of these are on and how often: writes that fail in the middle, short writes, a
// full disk, syncs that fail and drop their pages, reads, changes of names, slow calls; whether only
// the topic's files are hit or all; and how many faults there are at most. A third of the seeds add
// kills, and some of those a power loss. A failed sync excuses what it may have lost, unless in
// flush mode, where nothing of that was acknowledged.
func diskFaults() *Scenario {
	return &Scenario{
		Name:        "disk-faults",
		Description: "failing, short and full writes, failing syncs, reads and renames of one node",
		mayExcuse:   true,
		Floors: Floors{
			InFlightPercent: inFlightPercent, ExcusedPercent: excusedPercent,
			Antecedents: antecedents("checked.S6", "faults.failed_syncs_of_logs", "node.fences"),
			Rare:        []string{"checked.H4", "checked.S9", "faults.torn_tails"},
		},
		adapt: func(d draw, p *plan) {
			p.workload(d, p.producers(d, 1, 3))
			rate := func() uint64 { return pick(d, uint64(0), 0, 8, 40, 120) }
			p.faults.disk = diskRates{
				write: rate(), short: rate(), full: rate(), sync: rate() * 4, read: rate(),
				names: rate(), slow: rate(), logsOnly: d.Chance(2, 3), budget: int(d.Between(1, 12)),
			}
			if r := &p.faults.disk; r.write+r.short+r.full+r.sync == 0 {
				r.write, r.sync = 40, 300
			}
			if d.Chance(1, 3) {
				cause := func() sim.Cause { return pick(d, sim.Killed, sim.Killed, sim.PowerLost) }
				p.crashes(d, int(d.Between(1, 2)), cause)
			}
			p.others(d, d.Index(2))
		},
	}
}
