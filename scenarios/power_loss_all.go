package scenarios

import (
	"stet/scenarios/schedule"
	"stet/sim"
)

// powerLossAll takes the power of several machines and of all, at once and one on the heels of the
// other, in flush mode: acknowledged means synced on enough of them (P3), and nothing is excused.
func powerLossAll() *Scenario {
	return &Scenario{
		Name:        "power-loss-all",
		Description: "all machines lose power at once, in flush mode",
		Floors: Floors{
			CrashPercent: crashPercent, InFlightPercent: inFlightPercent, Antecedents: replicationAntecedents(),
		},
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 1)
			p.Node.Broker.Topic.FlushMessages = 1
			for range d.Between(1, 3) {
				s := p.strikeSend(d)
				s.verb, s.target = schedule.Power, nodeOne
				for i := range p.Machines {
					s.node = p.Machines[i].ID
					s.crash = newCrash(d, sim.PowerLost)
					s.crash.when, s.crash.down = atOnce, d.Delay(sim.Millisecond, 2*sim.Second)
					p.faults.strikes = append(p.faults.strikes, s)
					if s.delay += d.Delay(0, pick(d, sim.Time(0), 1, 100)*sim.Millisecond); d.Chance(1, 8) {
						break
					}
				}
			}
			p.deaths(d, d.Index(3), schedule.Power, schedule.Kill)
		},
	}
}
