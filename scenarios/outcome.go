package scenarios

import (
	"runtime/debug"

	"stet/core/invariant"
)

func (r *stage) close() {
	defer func() {
		if p := recover(); p != nil {
			r.findings.fails(Panic, "at the end: %v\n%s", p, debug.Stack())
		}
	}()
	r.simulated = r.world.Scheduler.Now()
	sum, err := r.world.Finish()
	r.hash = sum.String()
	if err != nil {
		r.findings.evidence = append(r.findings.evidence, "trace: "+err.Error())
	}
	r.world.Close()
}

func (r *run) result() *Result {
	c := r.findings.counters
	disk := r.machine.Disk.Counts()
	c["faults.torn_tails"] = int64(disk.TornInFlight + disk.PagesTorn)
	c["faults.pages_dropped"] = int64(disk.PagesDropped)
	out := &Result{
		Scenario: r.scenario.Name, Seed: r.seed, Events: int64(r.world.Scheduler.EventCount()),
		Operations: c["client.sends"] + c["client.polls"] + c["client.lists"],
		Acked:      r.verdict.Acknowledged, Excused: r.verdict.ExcusedCount,
		Faults: int64(len(r.world.Faults.Faults())), Simulated: r.simulated.Duration(),
		Hash: r.hash, Counters: c, Marks: map[string]uint64{},
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

// addMarks adds the coverage marks that were hit.
func (out *Result) addMarks() {
	for _, mark := range invariant.Marks() {
		if mark.Hits > 0 {
			out.Marks[mark.Name] = mark.Hits
		}
	}
}

// floors fails a run that has tested too little, and counts what it had.
func (r *run) floors(out *Result) {
	switch {
	case out.Acked == 0:
		r.findings.fails(Nothing, "no record was acknowledged with acks=all")
	case r.options.Schedule == nil && (out.Operations < minOperations || out.Events < minEvents):
		r.findings.fails(Nothing, "%d operations and %d events are too few", out.Operations, out.Events)
	}
}
