package scenarios

import (
	"stet/scenarios/schedule"
	"stet/sim"
)

// membershipChange adds two controllers to three and removes voters, while machines die and links
// break. In half of the seeds controllers that are no members ask to be added by themselves.
func membershipChange() *Scenario {
	return &Scenario{
		Name:        "membership-change",
		Description: "a quorum of three grows to five and shrinks again",
		Floors:      Floors{Antecedents: clusterAntecedents()},
		cluster: func(d draw, p *clusterPlan) {
			p.machines(3, int(d.Between(0, 2)), d.Chance(2, 3))
			for range 2 {
				m := schedule.Machine{ID: len(p.Machines) + 1}
				m.Controller, m.Broker = true, d.Chance(1, 2)
				m.Joins = d.Delay(sim.Millisecond, 3*sim.Second)
				p.Machines = append(p.Machines, m)
			}
			if len(p.brokers()) == 0 {
				p.Machines[0].Broker = true
			}
			p.clocks(d, 1)
			p.Node.Controller.AutoJoin = d.Chance(1, 2)
			p.operate(d, everything, int(d.Between(2, 3)), int(d.Between(45, 80)))
			p.changeVoters(d)
			p.deaths(d, int(d.Between(0, 3)), schedule.Kill, schedule.Power)
			p.cuts(d, d.Index(3))
		},
	}
}

// changeVoters adds an operator that adds and removes voters, and in the end adds all that are not.
func (p *clusterPlan) changeVoters(d draw) {
	o := schedule.Operator{ID: firstOperator + len(p.Operators)}
	var all []int
	for i := range p.Machines {
		if p.Machines[i].Controller {
			all = append(all, p.Machines[i].ID)
		}
	}
	add := func(kind schedule.OperationKind, node int, after sim.Time) {
		op := schedule.Operation{Number: len(o.Operations) + 1, Kind: kind, After: after}
		op.Node = node
		o.Operations = append(o.Operations, op)
	}
	for range d.Between(4, 10) {
		add(pick(d, schedule.AddVoter, schedule.AddVoter, schedule.RemoveVoter), all[d.Index(len(all))],
			d.Delay(0, 2*sim.Second))
	}
	for range 2 {
		for _, id := range all {
			add(schedule.AddVoter, id, 200*sim.Millisecond)
		}
	}
	p.Operators = append(p.Operators, o)
}
