package scenarios

import (
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/scenarios/schedule"
	"stet/sim"
)

// How long an operator that upgrades machines waits for one to be there again before it goes on.
const (
	upgradePatience = 20 * sim.Second
	upgradeGlance   = 50 * sim.Millisecond
)

// levelsOf is what the software supports that a machine is first started with.
func levelsOf(m *schedule.Machine) metadata.Levels {
	levels := metadata.BuildLevels()
	if m.Level > 0 {
		levels.Max = m.Level
	}
	return levels
}

// outdated says whether the process of a machine can not belong to the cluster, because its software
// does not support the feature level that is in force.
func (w *clusterWatch) outdated(m *sim.Machine) bool {
	level := w.state.Ledger.Level()
	return level != 0 && !w.levels[m.Place].Has(level)
}

// upgrade stops a machine and starts it with the software of this build. If it is down, or goes down
// otherwise meanwhile, it comes up with that.
func (o *operator) upgrade(op *schedule.Operation) {
	m := o.saboteur.machine(sim.Place(op.Node))
	if m == nil {
		return
	}
	o.findings.counters["client.operations"]++
	o.findings.counters["upgrade.restarts"]++
	m.Config.Broker.Levels, m.Config.Controller.Levels = metadata.BuildLevels(), metadata.BuildLevels()
	lives := m.Lives()
	if !o.saboteur.restart(m) {
		return
	}
	for waited := sim.Time(0); waited < upgradePatience && (m.Lives() == lives || !m.Ready()); waited += upgradeGlance {
		o.world.Scheduler.Await(upgradeGlance)
	}
}

// setLevel asks for another feature level.
func (o *operator) setLevel(op *schedule.Operation) kafka.ErrorCode {
	before := o.watch.state.Ledger.Level()
	way := metadata.Upgrade
	if op.Kind == schedule.LowerLevel {
		way = metadata.SafeDowngrade
		if op.Number%2 == 0 {
			way = metadata.UnsafeDowngrade
		}
	}
	code := o.admin.SetLevel(metadata.FeatureName, op.Level, int8(way))
	o.findings.counters["client.operations"]++
	o.judgeLevel(op, before, code)
	return code
}

// judgeLevel is M4 for what a client is told: a level that is said to be in force is so by then, and no
// level above it was before. before is that of the moment at which it was asked for.
func (o *operator) judgeLevel(op *schedule.Operation, before int16, code kafka.ErrorCode) {
	ledger := o.watch.state.Ledger
	switch {
	case code == kafka.None && (ledger.Level() < op.Level || before > op.Level):
		o.findings.fails("M4", "operator o%d is told that feature level %d is in force; it was %d, and is %d", o.id, op.Level,
			before, ledger.Level())
	case code == kafka.InvalidUpdateVersion && op.Kind == schedule.LowerLevel:
		o.findings.counters["upgrade.lower_refused"]++
	case code == kafka.InvalidUpdateVersion && op.Level <= metadata.CurrentLevel:
		o.findings.counters["upgrade.raise_refused"]++
	}
}

// noteLevel counts the moment at which the level rises, and whether something was wrong then.
func (w *clusterWatch) noteLevel() {
	level := w.state.Ledger.Level()
	if level > w.level && w.level > 0 {
		w.findings.counters["upgrade.raised"]++
		for _, m := range w.machines {
			if !w.saboteur.healed && m.Lives() > 0 && !m.Ready() {
				w.findings.counters["upgrade.raised_in_fault"]++
				break
			}
		}
	}
	w.level = level
}

// upgraded has the level raised, once every machine has software that supports it.
func (r *clusterRun) upgraded() func() bool {
	started, done := false, false
	return func() bool {
		if started || !r.upgradable() {
			return !started || done
		}
		started = true
		o := r.newOperator(upgradeOperator, sim.Interval{Low: 5 * sim.Second, High: 10 * sim.Second})
		r.operators = append(r.operators, o)
		op := &schedule.Operation{Number: 1, Kind: schedule.RaiseLevel}
		op.Level = metadata.CurrentLevel
		r.world.Scheduler.Spawn(0, o.admin.Host.Owner, o.admin.Host.Name, func() {
			o.number = 1
			for o.setLevel(op) != kafka.None {
				o.world.Scheduler.Await(sim.Second)
			}
			o.number = 0
			o.admin.Close()
			done = true
		})
		return false
	}
}

// upgradable says whether this run is about levels, and every machine runs software of this build by
// now: in a schedule that was made smaller nobody may have upgraded it.
func (r *clusterRun) upgradable() bool {
	about := false
	for i := range r.plan.Machines {
		m := &r.plan.Machines[i]
		about = about || m.Level > 0
		if r.watch.levels[m.Place()] != metadata.BuildLevels() {
			return false
		}
	}
	return about
}
