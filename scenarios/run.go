package scenarios

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"stet/core/invariant"
	"stet/linearizability"
	"stet/node"
	"stet/scenarios/schedule"
	"stet/scenarios/storedlog"
	"stet/sim"
)

// Options are what a run may be asked for besides its outcome.
type Options struct {
	// Trace, if set, is written every event, as JSON lines.
	Trace io.Writer
	// Calm leaves out all faults, and what provokes them: see plan.calm.
	Calm bool
	// Schedule, if set, is run instead of what the seed would draw.
	Schedule *schedule.Schedule
	// Record has the result carry the schedule of what happened.
	Record bool
	// Until, if set, ends the run as soon as this check fails. Check of the result is what it would be
	// anyway, since what fails first of the worst class counts; its hash is not.
	Until Check
	// MaxEvents, if not 0, bounds the events of the run instead of what no run needs.
	MaxEvents uint64
	// Salt, if not 0, moves every random draw of the world: what a change of the code may do.
	Salt uint64
}

// Floors that a run has to reach; one that does not has tested too little.
const (
	minOperations = 200
	minEvents     = 5000
)

// Bounds of a run, in virtual time and in events.
const (
	faultTime = 60 * sim.Second  // with faults
	healTime  = 300 * sim.Second // for every send to be answered afterwards
	probeTime = 60 * sim.Second  // for one acknowledgement of each partition
	readTime  = 120 * sim.Second // for the final read
	stopTime  = 30 * sim.Second
	maxEvents = 5_000_000
)

// Run runs one seed of a scenario and judges it. A process runs one at a time.
func Run(s *Scenario, seed uint64, o Options) (result *Result) {
	start := time.Now()
	invariant.ResetMarks()
	var r performance
	switch {
	case s.replication != nil:
		r = newReplicationRun(s, seed, o)
	case s.cluster != nil:
		r = newClusterRun(s, seed, o, clusterPlanOf(s, seed, o))
	default:
		r = newRun(s, seed, o)
	}
	defer func() {
		if p := recover(); p != nil {
			r.base().findings.fails(Panic, "%v\n%s", p, debug.Stack())
		}
		r.base().close()
		result = r.result()
		result.Wall = time.Since(start)
	}()
	r.play()
	return nil
}

// performance is a run under way, of one node or of a cluster.
type performance interface {
	play()
	result() *Result
	base() *stage
}

// stage is what all runs have.
type stage struct {
	scenario  *Scenario
	seed      uint64
	world     *sim.World
	saboteur  *saboteur
	score     *score // what a schedule has; empty for a seed
	options   Options
	findings  *findings
	hash      string
	simulated sim.Time
}

func (r *stage) base() *stage { return r }

// newStage makes the world of a run.
func newStage(s *Scenario, seed uint64, o Options) stage {
	w := sim.NewWorld(seed ^ o.Salt)
	if o.Record {
		w.Entropy.RecordTapes()
	}
	if o.Schedule != nil {
		w.Entropy.PlayTapes(o.Schedule.Tapes)
	}
	if o.Trace != nil {
		w.Trace.WriteTo(o.Trace, sim.Header{
			Stet: stetVersion, Commit: commit(), Scenario: s.Name,
			Seed: fmt.Sprintf("%#x", seed),
		}, true)
	}
	return stage{
		scenario: s, seed: seed, options: o, world: w, findings: &findings{counters: counters{}},
	}
}

// run is one run of one node under way.
type run struct {
	stage
	plan     *plan
	machine  *sim.Machine
	recorder *recorder
	monitor  *monitor
	workload *workload
	checks   *sim.Stream // what checks draw
	verdict  linearizability.Verdict
}

// planOf returns the plan of a schedule, or draws that of the seed, from a stream that is not the
// world's: what it draws stands in the schedule.
func planOf(s *Scenario, seed uint64, o Options) *plan {
	if o.Schedule != nil {
		return &plan{Schedule: o.Schedule}
	}
	d := draw{sim.NewEntropy(seed).Stream("plan", 0)}
	p := newPlan(d)
	s.adapt(d, p)
	if o.Calm {
		p.calm()
	}
	return p
}

func newRun(s *Scenario, seed uint64, o Options) *run {
	p := planOf(s, seed, o)
	r := &run{stage: newStage(s, seed, o), plan: p}
	w, f := r.world, r.findings
	w.Network.SetDefaultProfile(p.World.Link)
	r.machine = w.AddMachine(p.Node)
	p.equip(r.machine)
	ghost := newGhost(w.Scheduler)
	r.recorder = &recorder{scheduler: w.Scheduler, ghost: ghost, counters: f.counters}
	r.recorder.history.Scenario, r.recorder.history.Seed = s.Name, seed
	for i := range p.Topic.Partitions {
		r.recorder.history.Partitions = append(r.recorder.history.Partitions,
			linearizability.PartitionInfo{Partition: partitionOf(partitionID(i)), Replicas: 1})
	}
	r.monitor = newMonitor(w, r.machine, p.Schedule, r.recorder, f)
	r.saboteur = newSaboteur(w, w.Machines, r.monitor, f.counters)
	r.score = newScore(r.saboteur, p.Faults)
	r.saboteur.director = r.score
	if o.Schedule == nil {
		r.saboteur.director = &improviser{
			saboteur: r.saboteur, plan: &p.faults,
			stream: sim.NewEntropy(seed).Stream("faults", 0), // not the world's: see planOf
		}
	}
	r.workload = newWorkload(r)
	r.checks = w.Entropy.Stream("checks", 0)
	r.connect()
	return r
}

// connect hangs the checks and the faults on the hooks of the world.
func (r *run) connect() {
	r.machine.Tap = r.monitor
	r.world.BeforeCrash = func(_ *sim.Machine, c sim.Cause) { r.monitor.beforeCrash(c) }
	checks := r.checks
	r.world.AfterCrash = func(m *sim.Machine, _ sim.Cause) {
		p := partitionID(int32(checks.Index(int(r.plan.Topic.Partitions))))
		if kill := int(1 + checks.Skewed(40)); checks.Chance(1, 2) {
			r.monitor.checkRecoverTwice(p, kill)
		}
		r.saboteur.crashed(m)
	}
	r.world.OnStatus = func(m *sim.Machine, s node.Status) {
		if s.Fatal == nil {
			return
		}
		r.findings.counters["node.fatal"]++
		if r.saboteur.healed {
			r.findings.fails("L9", "the node gives up without a fault: %v", s.Fatal)
		}
		r.saboteur.ended(m)
	}
	r.world.Network.OnViolation = func(v sim.RangeViolation) {
		r.findings.fails("H10", "%s", v.Error())
	}
	r.recorder.onAttempt = r.saboteur.attempted
	r.recorder.onAnswer = func(s *linearizability.Send, base offset) {
		r.monitor.checkAcknowledged(s.Partition.Index, s.Acks, base, len(s.Records))
	}
}

// play runs the phases: setup, safety under faults, heal, liveness, the final read, judgement.
func (r *run) play() {
	r.saboteur.start(r.machine)
	if !r.until("L1", "the topic is created", healTime, r.workload.create()) {
		return
	}
	r.workload.begin()
	r.saboteur.begin()
	r.world.Run(faultTime, func() bool { return r.workload.sent() || r.exhausted() })
	r.saboteur.heal()
	r.recorder.onAttempt = nil
	if !r.until("L8", "every send is answered", healTime, r.workload.sent) {
		r.findings.evidence = append(r.findings.evidence, r.stuck()...)
		return
	}
	if !r.until("L1", "every partition acknowledges", probeTime, r.workload.probe()) {
		r.findings.evidence = append(r.findings.evidence, r.stuck()...)
		return
	}
	r.workload.stop()
	r.world.Run(r.plan.End.Idle, r.exhausted)
	if !r.until("L1", "the final read reaches the end", readTime, r.workload.finalRead()) {
		return
	}
	r.world.Run(sim.Second, nil)
	r.checkLeftovers()
	r.inspect()
	if r.plan.End.CleanStop {
		r.stopCleanly()
	}
	r.judge()
}

// until runs the world until done, at most for d, and says whether it came to that.
func (r *stage) until(c Check, what string, d sim.Time, done func() bool) bool {
	r.findings.checked(c)
	if !done() {
		r.world.Run(d, func() bool { return done() || r.exhausted() })
	}
	if done() {
		return true
	}
	r.findings.fails(c, "%s: not within %v after the faults ended (events %d)", what, d,
		r.world.Scheduler.EventCount())
	return false
}

// exhausted says whether the run is to end, whatever it has come to.
func (r *stage) exhausted() bool {
	limit := uint64(maxEvents)
	if r.options.MaxEvents > 0 {
		limit = r.options.MaxEvents
	}
	return r.world.Scheduler.EventCount() > limit ||
		r.options.Until != Passed && slices.Contains(r.findings.failed, r.options.Until)
}

// stuck describes where the node stands when something does not end.
func (r *run) stuck() []string {
	lines := []string{fmt.Sprintf("running %v, ready %v, lives %d, open sends %d, fatal %v",
		r.machine.Running(), r.machine.Ready(), r.machine.Lives(), r.recorder.open(), r.machine.Fatal())}
	for _, p := range r.workload.producers {
		lines = append(lines, p.String())
	}
	for i, replica := range replicas(r.machine, r.plan.Topic.Partitions) {
		if replica != nil {
			lines = append(lines, fmt.Sprintf("%s: %s %v", topicPartition(partitionID(int32(i))),
				replica.State(), replica.Err()))
		}
	}
	return lines
}

// inspect checks the state of the quiet node and takes the dumps.
func (r *run) inspect() {
	m := r.monitor
	for i, replica := range replicas(r.machine, r.plan.Topic.Partitions) {
		p := partitionID(int32(i))
		if r.monitor.givenUp(p) {
			continue
		}
		if replica == nil || replica.Log() == nil {
			r.findings.fails("L1", "%s has no open log at the end", topicPartition(p))
			continue
		}
		log := readLog(r.machine.Disk, p, storedlog.Cached)
		r.findings.checked("S3")
		if log.Problem != "" || log.End != replica.Log().Written() {
			r.findings.fails("S3", "%s: the log ends at %d, its files are sound to %d: %s",
				topicPartition(p), replica.Log().Written(), log.End, log.Problem)
		}
		checkSequences(r.findings, p, log)
		checkIndexes(r.findings, r.machine.Disk, p, log)
		m.checkDerived(p, replica.Log())
		m.checkCorruption(p, log, r.checks.Index(1<<20))
		r.recorder.history.Dumps = append(r.recorder.history.Dumps,
			dump(r.recorder.step(), p, 1, true, log, replica.HighWatermark()))
	}
}

// stopCleanly is the half of S5 that concerns an end: the marker says that all is durable.
func (r *run) stopCleanly() {
	r.machine.Stop()
	if !r.until("L9", "a clean stop ends", stopTime, func() bool { return !r.machine.Running() }) {
		return
	}
	r.monitor.checkStopped()
}

// judge judges the history.
func (r *run) judge() {
	r.monitor.excuseForgotten()
	r.verdict = r.judgeHistory(r.recorder)
	r.judgeTroubles(r.recorder, r.plan.Schedule)
}

// judgeHistory has every check of histories judge what clients saw.
func (r *stage) judgeHistory(of *recorder) linearizability.Verdict {
	verdict := linearizability.Judge(of.finish(), linearizability.Options{})
	for _, v := range verdict.Violations() {
		r.findings.fails(Check(v.Check), "%s", strings.TrimPrefix(v.String(), string(v.Check)+" "))
	}
	for _, c := range verdict.Counters() {
		r.findings.counters["history."+c.Name] += c.Count
	}
	for _, report := range verdict.Reports {
		r.findings.counters["checked."+string(report.Check)] += report.Checked
	}
	return verdict
}
