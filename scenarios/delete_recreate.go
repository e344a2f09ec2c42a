package scenarios

import (
	"time"

	"stet/scenarios/schedule"
	"stet/sim"
)

// deleteRecreate has topics of one or two names created, written to, read and deleted by several
// operators at once, while brokers are down or hear nothing.
func deleteRecreate() *Scenario {
	return &Scenario{
		Name:        "delete-recreate",
		Description: "topics of the same names come and go while brokers are down or cut off",
		Floors:      Floors{Antecedents: clusterAntecedents()},
		cluster: func(d draw, p *clusterPlan) {
			combined := d.Chance(1, 3)
			p.machines(pick(d, 1, 1, 3), int(d.Between(2, 3)), combined)
			p.clocks(d, 1)
			p.Node.Controller.SessionTimeout = pick(d, p.Node.Controller.SessionTimeout, 9*time.Second, 9*time.Second)
			p.operate(d, weights{
				{schedule.CreateTopic, 6},
				{schedule.DeleteTopic, 5},
				{schedule.Write, 8},
				{schedule.ReadAll, 5},
				{schedule.GrowTopic, 2},
				{schedule.ProbeTopic, 1},
				{schedule.GetTopic, 2},
				{schedule.SetTopic, 1},
				{schedule.Identify, 1},
			}, int(d.Between(2, 4)), int(d.Between(50, 90)))
			for i := range p.Operators {
				for j := range p.Operators[i].Operations {
					p.Operators[i].Operations[j].Topic = 1 + 2*d.Index(2)
					p.Operators[i].Operations[j].Replicas = 1
				}
			}
			verbs := []schedule.Verb{schedule.Kill} // after a power loss a machine owes no record any more
			if d.Chance(1, 3) {
				verbs = append(verbs, schedule.Power)
			}
			p.deaths(d, int(d.Between(3, 8)), verbs...)
			for i := range p.faults.strikes { // a broker that is down and not missed yet is given replicas
				s := &p.faults.strikes[i]
				s.target, s.crash.down = brokerOne, max(s.crash.down, d.Delay(0, 4*sim.Second))
			}
			p.cuts(d, d.Index(4))
			p.holdBacks(d, d.Index(3))
			p.nuisances(d, d.Index(2), schedule.Stop, schedule.Pause)
		},
	}
}
