package scenarios

import "stet/sim"

// singleNodeKill kills the only node's process, again and again.
//
// It draws one to five kills, each at the moment when some request of a producer starts, at once or
// in the middle of a write, a sync, a change of names or any call of the disk; a third of them are
// followed by one to three more kills of the recovery; a quarter come twice in a row. Beside that it
// draws network faults, pauses, stalls, slow disks and steps of the clock. A kill damages nothing,
// so everything that was acknowledged with acks=all stands, in flush mode and without.
func singleNodeKill() *Scenario {
	return &Scenario{
		Name:        "single-node-kill",
		Description: "kill -9 of one node at any moment, also while it recovers; nothing is excused",
		Floors: Floors{
			CrashPercent: crashPercent, InFlightPercent: inFlightPercent,
			Antecedents: antecedents("faults.recoveries_interrupted", "faults.torn_tails"),
			Rare:        []string{"checked.H4"},
		},
		adapt: func(d draw, p *plan) {
			killed := func() sim.Cause { return sim.Killed }
			p.workload(d, p.producers(d, 1, 3))
			p.crashes(d, int(d.Between(1, 5)), killed)
			p.others(d, d.Index(4))
			if d.Chance(1, 2) {
				p.network(d)
			}
		},
	}
}
