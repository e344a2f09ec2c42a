package scenarios

import (
	"stet/core/metadata"
	"stet/scenarios/schedule"
	"stet/sim"
)

// mixedVersions is a rolling upgrade: a cluster of old software gets the new one, machine by machine,
// while machines die and links break, and operators raise the feature level and try to lower it
// whenever they like. A machine with the new software may join before the level is raised, and one
// with the old after: that one is refused, until it is upgraded too.
func mixedVersions() *Scenario {
	return &Scenario{
		Name:        "mixed-versions",
		Description: "old software is replaced by new, machine by machine, and the feature level is raised",
		Floors: Floors{
			CrashPercent: crashPercent, InFlightPercent: inFlightPercent,
			Antecedents: clusterAntecedents("checked.M4", "upgrade.restarts", "upgrade.raised", "upgrade.raised_in_fault",
				"upgrade.raise_refused", "upgrade.lower_refused", "upgrade.outdated_ended"),
		},
		cluster: func(d draw, p *clusterPlan) {
			p.shape(d, 1, 3, 3, 5)
			initial := len(p.Machines)
			oldest := d.Index(len(p.controllers())) // one of the founders: the cluster starts with what it knows
			for i := range p.Machines {
				if i == oldest || d.Chance(3, 4) {
					p.Machines[i].Level = metadata.LevelFirst
				}
			}
			p.joiner(d, d.Chance(1, 2), 0, d.Delay(sim.Millisecond, 5*sim.Second))
			p.joiner(d, d.Chance(2, 3), metadata.LevelFirst, d.Delay(sim.Second, 30*sim.Second))
			p.operate(d, everything, int(d.Between(2, 3)), int(d.Between(45, 80)))
			p.tryLevels(d)
			p.deaths(d, int(d.Between(1, 4)), schedule.Kill, schedule.Kill, schedule.Power)
			p.nuisances(d, d.Index(3), schedule.Pause, schedule.Stop)
			p.cuts(d, d.Index(3))
			p.roll(d, initial)
		},
	}
}

// joiner adds, if it is there, a machine that is started later.
func (p *clusterPlan) joiner(d draw, there bool, level int16, after sim.Time) {
	if !there {
		return
	}
	m := schedule.Machine{ID: len(p.Machines) + 1}
	m.Broker = d.Chance(2, 3)
	m.Controller = !m.Broker || d.Chance(1, 2)
	m.Joins, m.Level = after, level
	p.Machines = append(p.Machines, m)
}

// tryLevels adds an operator that raises and lowers the level at any time, to what it should be and to
// what nobody supports.
func (p *clusterPlan) tryLevels(d draw) {
	o := p.hire()
	for range d.Between(4, 10) {
		op := o.add(pick(d, schedule.RaiseLevel, schedule.RaiseLevel, schedule.LowerLevel), d.Delay(0, 4*sim.Second))
		op.Level = metadata.LevelFirst
		if op.Kind == schedule.RaiseLevel {
			op.Level = pick(d, metadata.CurrentLevel, metadata.CurrentLevel, metadata.CurrentLevel+1)
		}
	}
	p.Operators = append(p.Operators, *o.Operator)
}

// roll adds the operator that upgrades the machines which are there from the start, in any order, raises
// the level, and upgrades those that have come since.
func (p *clusterPlan) roll(d draw, initial int) {
	o := p.hire()
	var old, late []int
	for i := range p.Machines {
		m := &p.Machines[i]
		switch {
		case m.Level == 0:
		case i < initial:
			at := d.Index(len(old) + 1)
			old = append(old[:at], append([]int{m.ID}, old[at:]...)...)
		default:
			late = append(late, m.ID)
		}
	}
	for _, id := range old {
		o.add(schedule.Upgrade, d.Delay(0, 2*sim.Second)).Node = id
		if d.Chance(1, 2) {
			o.add(schedule.RaiseLevel, d.Delay(0, sim.Second)).Level = metadata.CurrentLevel
		}
	}
	for range 3 {
		o.add(schedule.RaiseLevel, 300*sim.Millisecond).Level = metadata.CurrentLevel
	}
	o.add(schedule.LowerLevel, 0).Level = metadata.LevelFirst
	for _, id := range late {
		o.add(schedule.Upgrade, d.Delay(0, 30*sim.Second)).Node = id
	}
	o.add(schedule.RaiseLevel, sim.Second).Level = metadata.CurrentLevel
	p.Operators = append(p.Operators, *o.Operator)
}

// hired is an operator that is being given its operations.
type hired struct{ *schedule.Operator }

func (p *clusterPlan) hire() hired {
	return hired{&schedule.Operator{ID: firstOperator + len(p.Operators)}}
}

func (h hired) add(kind schedule.OperationKind, after sim.Time) *schedule.Operation {
	op := schedule.Operation{Number: len(h.Operations) + 1, Kind: kind, After: after}
	h.Operations = append(h.Operations, op)
	return &h.Operations[len(h.Operations)-1]
}
