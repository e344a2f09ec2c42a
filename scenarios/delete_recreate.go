package scenarios

import "stet/scenarios/schedule"

// deleteRecreate has topics of one or two names created, written to, read and deleted by several
// operators at once, while brokers are down or hear nothing.
func deleteRecreate() *Scenario {
	return &Scenario{
		Name:        "delete-recreate",
		Description: "topics of the same names come and go while brokers are down or cut off",
		Floors:      Floors{Antecedents: clusterAntecedents()},
		cluster: func(d draw, p *clusterPlan) {
			p.shape(d, 1, 3)
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
			p.deaths(d, int(d.Between(1, 5)), schedule.Kill, schedule.Kill, schedule.Power)
			p.cuts(d, d.Index(4))
			p.nuisances(d, d.Index(2), schedule.Stop, schedule.Pause)
		},
	}
}
