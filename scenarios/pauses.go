package scenarios

import (
	"stet/scenarios/schedule"
	"stet/sim"
)

// pauses stops processes for so long that they are fenced and replaced, and has them wake up believing
// that they still lead, with requests of clients and answers of followers at their door.
func pauses() *Scenario {
	return &Scenario{
		Name:        "pauses",
		Description: "processes stop for long, are replaced, and wake up believing that they lead",
		Floors: Floors{
			InFlightPercent: inFlightPercent / 2, // a strike that cuts or stops lets go on what is under way
			Antecedents:     replicationAntecedents("replicas.isr_shrinks", "replicas.isr_expansions"),
		},
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 2)
			session := sim.Time(p.Node.Controller.SessionTimeout)
			for range d.Between(3, 7) {
				s := p.strikeSend(d)
				s.verb, s.span = schedule.Pause, d.Delay(session/2, min(3*session, 15*sim.Second))
				p.faults.strikes = append(p.faults.strikes, s)
			}
			p.nuisances(d, d.Index(3), schedule.Clock, schedule.Reset)
			p.deaths(d, d.Index(2), schedule.Kill)
		},
	}
}
