package scenarios

import (
	"stet/scenarios/schedule"
	"stet/sim"
)

// rollingRestart stops one machine after the other, in order, and starts it again: leaders move away
// before their broker goes, and nobody waits for an acknowledgement longer than that takes.
//
// Now and then a machine is killed instead, because its operator had no patience, or another is cut off
// meanwhile.
func rollingRestart() *Scenario {
	return &Scenario{
		Name:        "rolling-restart",
		Description: "machines stop and start again, one after the other, some in a hurry",
		Floors: Floors{
			InFlightPercent: inFlightPercent / 2, // a machine that stops in order has let its leaderships go before
			Antecedents:     replicationAntecedents("node.clean_stops", "replicas.isr_shrinks", "replicas.isr_expansions"),
		},
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 2)
			at := d.Delay(0, sim.Second)
			for range d.Between(1, 2) {
				for i := range p.Machines {
					s := clusterStrike{since: schedule.Work, delay: at, target: nodeOne, node: p.Machines[i].ID}
					s.verb = pick(d, schedule.Stop, schedule.Stop, schedule.Stop, schedule.Stop, schedule.Kill)
					s.crash = crash{cause: sim.Killed, down: d.Delay(10*sim.Millisecond, 2*sim.Second)}
					p.faults.strikes = append(p.faults.strikes, s)
					at += s.crash.down + d.Delay(100*sim.Millisecond, pick(d, sim.Time(1000), 4000)*sim.Millisecond)
				}
			}
			p.cuts(d, 1+d.Index(2))
		},
	}
}
