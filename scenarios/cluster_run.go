package scenarios

import (
	"fmt"
	"slices"

	"stet/scenarios/schedule"
	"stet/sim"
)

// Bounds of a cluster's run, in virtual time.
const (
	formTime     = 120 * sim.Second // for a cluster to form, faults from the start included
	clusterFault = 90 * sim.Second  // with faults
	endTime      = 300 * sim.Second // for every operation to end, and for the cluster to converge
)

// clusterDigest is after how many events the state of all machines is digested. Up to seven of them
// made that 40 % of a run at the world's default; each event is hashed all the same.
const clusterDigest = 1024

// clusterRun is one run of a cluster under way.
type clusterRun struct {
	stage
	plan      *clusterPlan
	machines  []*sim.Machine // of the schedule, by place
	watch     *clusterWatch
	ledger    *operations
	cargo     *cargo
	operators []*operator
	busy      int    // operators that are not done
	joining   int    // machines that have not been started yet
	missing   string // what the cluster last lacked to be as it should
}

func newClusterRun(s *Scenario, seed uint64, o Options, p *clusterPlan) *clusterRun {
	r := &clusterRun{stage: newStage(s, seed, o), plan: p}
	w := r.world
	w.DigestEvery = clusterDigest
	w.Network.SetDefaultProfile(p.World.Link)
	last := 0
	for i := range p.Machines {
		last = max(last, p.Machines[i].ID)
	}
	for id := 1; id <= last; id++ {
		m := p.MachineAt(sim.Place(id))
		if m == nil {
			w.AddMachine(schedule.BaseNode()) // it keeps the place, and is never started
			continue
		}
		machine := w.AddMachine(p.nodeConfig(m))
		p.equip(machine, m)
		r.machines = append(r.machines, machine)
	}
	r.watch = newClusterWatch(r)
	r.ledger = newOperations(r)
	r.cargo = newCargo(r)
	r.saboteur = newSaboteur(w, r.machines, r.watch, r.findings.counters)
	r.score = newScore(r.saboteur, p.Faults)
	r.saboteur.director = r.score
	if o.Schedule == nil {
		r.saboteur.director = newClusterImproviser(r, sim.NewEntropy(seed).Stream("faults", 0))
	}
	r.watch.connect()
	return r
}

// clusterPlanOf returns the plan of a schedule, or draws that of the seed: see planOf.
func clusterPlanOf(s *Scenario, seed uint64, o Options) *clusterPlan {
	if o.Schedule != nil {
		return &clusterPlan{Schedule: o.Schedule}
	}
	d := draw{sim.NewEntropy(seed).Stream("plan", 0)}
	p := newClusterPlan(d)
	s.cluster(d, p)
	p.patient()
	if o.Calm {
		p.faults = clusterFaults{}
	}
	return p
}

// play runs the phases: the cluster forms, safety under faults, heal, it converges, judgement.
func (r *clusterRun) play() {
	for _, m := range r.machines {
		if at := r.plan.MachineAt(m.Place); at.Joins > 0 {
			r.joining++
		} else {
			r.saboteur.start(m)
		}
	}
	r.saboteur.begin()
	r.saboteur.reached(schedule.Start)
	if !r.until("L6", "the cluster forms", formTime, r.formed) {
		r.tell()
		return
	}
	r.join()
	r.operate()
	r.saboteur.reached(schedule.Work)
	r.world.Run(clusterFault, func() bool { return r.done() || r.exhausted() })
	r.saboteur.heal()
	if !r.until("L8", "every operation ends", endTime, r.done) ||
		!r.until("L6", "the upgrade is finished", endTime, r.upgraded()) ||
		!r.until("L6", "the cluster converges", endTime, r.converged) ||
		!r.until("L8", "the cluster can be administered", endTime, r.probe()) {
		r.tell()
		return
	}
	r.world.Run(r.plan.End.Idle, r.exhausted)
	if !r.until("L6", "the cluster stays converged", endTime, r.converged) {
		r.tell()
		return
	}
	r.inspect()
	if r.plan.End.CleanStop {
		r.stopCleanly()
	}
	r.judge()
}

// done says whether every operation has ended and every machine has joined.
func (r *clusterRun) done() bool { return r.busy == 0 && r.joining == 0 }

// join starts the machines that come later.
func (r *clusterRun) join() {
	for _, m := range r.machines {
		if at := r.plan.MachineAt(m.Place); at.Joins > 0 {
			r.world.Scheduler.After(at.Joins, 0, sim.KindStart, func() {
				r.joining--
				r.saboteur.start(m)
			})
		}
	}
}

// stopCleanly stops all machines, the active controller last: the others can leave the cluster then.
func (r *clusterRun) stopCleanly() {
	active := r.watch.active()
	order := slices.Clone(r.machines)
	slices.SortStableFunc(order, func(a, b *sim.Machine) int {
		switch {
		case a == active:
			return 1
		case b == active:
			return -1
		}
		return 0
	})
	for _, m := range order {
		m.Stop()
		if !r.until("L9", fmt.Sprintf("%s stops cleanly", m.Place), stopTime, func() bool { return !m.Running() }) {
			r.tell()
			return
		}
	}
}

func (r *clusterRun) result() *Result {
	c := r.findings.counters
	return r.resultOf(c["client.operations"], c["client.ok"], 0)
}

// resultOf is the result of a run whose clients did so much.
func (r *clusterRun) resultOf(operations, acked, excused int64) *Result {
	c := r.findings.counters
	c["cluster.elections"] = int64(r.watch.state.Elections())
	c["cluster.entries"] = int64(len(r.watch.state.Ledger.Entries()))
	c["cluster.machines"] = int64(len(r.machines))
	out := &Result{
		Scenario: r.scenario.Name, Seed: r.seed, Events: int64(r.world.Scheduler.EventCount()),
		Operations: operations, Acked: acked, Excused: excused, Faults: int64(len(r.world.Faults.Faults())),
		Simulated: r.simulated.Duration(), Hash: r.hash, Counters: c, Marks: map[string]uint64{},
	}
	out.addMarks()
	if len(r.findings.failed) == 0 {
		r.floors(out)
	}
	out.Check, out.Failed, out.Evidence = r.findings.worst(), r.findings.failed, r.findings.evidence
	out.Missed = r.score.missed()
	if r.options.Record {
		out.Schedule = r.recorded(r.plan.Schedule, out)
	}
	return out
}

// What a run of a cluster has to reach to be worth its name.
const (
	minClusterOperations = 60
	minClusterEvents     = 3000
)

// floors fails a run that has tested too little.
func (r *clusterRun) floors(out *Result) {
	switch {
	case out.Acked == 0:
		r.findings.fails(Nothing, "no operation was acknowledged")
	case r.options.Schedule == nil && (out.Operations < minClusterOperations || out.Events < minClusterEvents):
		r.findings.fails(Nothing, "%d operations and %d events are too few", out.Operations, out.Events)
	}
}

// tell describes where the cluster stands when something does not end.
func (r *clusterRun) tell() {
	lines := []string{r.missing}
	for _, m := range r.machines {
		lines = append(lines, r.watch.describe(m))
	}
	for _, o := range r.operators {
		lines = append(lines, o.String())
	}
	r.findings.evidence = append(r.findings.evidence, lines...)
}
