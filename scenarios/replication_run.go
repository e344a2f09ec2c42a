package scenarios

import (
	"slices"
	"strconv"

	"stet/core/kafka"
	"stet/linearizability"
	"stet/scenarios/schedule"
	"stet/sim"
	"stet/sim/client"
)

// replicationRun is one run of a cluster whose clients write to and read from a replicated topic.
type replicationRun struct {
	*clusterRun
	recorder *recorder
	workload *workload
	replicas *replicaWatch
	verdict  linearizability.Verdict
}

// newReplicationRun makes a run of a scenario of replication.
func newReplicationRun(s *Scenario, seed uint64, o Options) *replicationRun {
	r := &replicationRun{clusterRun: newClusterRun(s, seed, o, replicationPlanOf(s, seed, o))}
	w, p := r.world, r.plan
	r.recorder = &recorder{scheduler: w.Scheduler, ghost: newGhost(w.Scheduler), counters: r.findings.counters}
	h := &r.recorder.history
	h.Scenario, h.Seed = s.Name, seed
	for i := range p.Topic.Partitions {
		h.Partitions = append(h.Partitions, linearizability.PartitionInfo{
			Partition: partitionOf(partitionID(i)), Replicas: int(p.Replicas.Factor),
		})
	}
	r.replicas = newReplicaWatch(r)
	r.watch.replicas = r.replicas
	r.recorder.onAttempt = r.saboteur.attempted
	r.recorder.onAnswer = r.replicas.acknowledged
	r.recorder.onRetry = r.replicas.retried
	r.recorder.deposed = r.replicas.deposed
	r.workload = &workload{
		stage: &r.stage, plan: p.Schedule, recorder: r.recorder, ends: r.replicas.ends,
		refuses: func(kafka.PartitionID) bool { return false },
		place:   func(h *client.Host) { h.Servers = r.brokerServers() },
	}
	return r
}

// replicationPlanOf returns the plan of a schedule, or draws that of the seed: see planOf.
func replicationPlanOf(s *Scenario, seed uint64, o Options) *clusterPlan {
	if o.Schedule != nil {
		return &clusterPlan{Schedule: o.Schedule}
	}
	p := newReplicationPlan(draw{sim.NewEntropy(seed).Stream("plan", 0)})
	s.replication(p.d, p)
	p.patient()
	if o.Calm {
		p.calm()
	}
	return p.clusterPlan
}

// brokerServers lists where clients find the brokers.
func (r *replicationRun) brokerServers() (all []client.Server) {
	for _, m := range r.machines {
		if m.Addr != "" {
			all = append(all, client.Server{Place: m.Place, Addr: m.Addr})
		}
	}
	return all
}

// play runs the phases: the cluster forms, the topic is created, safety under faults, heal, everything
// is sent, all replicas are as they should, a fresh read, judgement.
func (r *replicationRun) play() {
	for _, m := range r.machines {
		r.saboteur.start(m)
	}
	r.saboteur.begin()
	r.saboteur.reached(schedule.Start)
	if !r.reaches("L6", "the cluster forms", formTime, r.formed) ||
		!r.reaches("L1", "the topic is created", formTime, r.create()) {
		return
	}
	r.workload.begin()
	r.operate()
	r.saboteur.reached(schedule.Work)
	r.world.Run(clusterFault, func() bool { return r.workload.sent() && r.done() || r.exhausted() })
	r.saboteur.heal()
	r.recorder.onAttempt = nil
	if !r.reaches("L8", "every send is answered", healTime, r.workload.sent) ||
		!r.reaches("L8", "every operation ends", endTime, r.done) ||
		!r.reaches("L6", "the cluster converges", endTime, r.converged) ||
		!r.reaches("L2", "every replica is in sync", endTime, r.replicas.whole) ||
		!r.reaches("L1", "every partition acknowledges", probeTime, r.workload.probe()) {
		return
	}
	r.workload.stop()
	r.world.Run(r.plan.End.Idle, r.exhausted)
	if !r.reaches("L1", "the final read reaches the end", readTime, r.workload.finalRead()) ||
		!r.reaches("L2", "every replica has everything", endTime, r.replicas.level) {
		return
	}
	r.world.Run(sim.Second, nil)
	r.replicas.inspect()
	if r.plan.End.CleanStop {
		r.stopCleanly()
	}
	r.judge()
}

// reaches is until, which tells where the cluster stands if that does not come.
func (r *replicationRun) reaches(c Check, what string, d sim.Time, done func() bool) bool {
	if r.until(c, what, d, done) {
		return true
	}
	r.tell()
	for _, p := range r.workload.producers {
		r.findings.evidence = append(r.findings.evidence, p.String())
	}
	r.findings.evidence = append(r.findings.evidence, r.replicas.describe()...)
	return false
}

// create creates the topic, and is done when all its partitions have leaders.
func (r *replicationRun) create() func() bool {
	created := false
	h, _ := r.workload.patient(creatorID, false)
	a := &client.Administrator{Host: h, Servers: h.Servers}
	topic := client.NewTopic{Name: topicName, Partitions: r.plan.Topic.Partitions, Replicas: r.plan.Replicas.Factor}
	if least := r.plan.Replicas.MinISR; least > 0 {
		topic.Key, topic.Value = "min.insync.replicas", strconv.Itoa(int(least))
	}
	r.workload.spawn(h, func() {
		for !created {
			_, code := a.CreateTopic(topic)
			created = code == kafka.None || code == kafka.TopicAlreadyExists
			r.findings.counters["client.create."+code.String()]++
			h.Scheduler.Await(10 * sim.Millisecond)
		}
		a.Close()
	})
	return func() bool { return created && r.replicas.led() }
}

// judge judges the history, and that of the operators if there were any.
func (r *replicationRun) judge() {
	if r.plan.Replicas.BlackBox {
		r.recorder.forget()
	}
	r.verdict = r.judgeHistory(r.recorder)
	r.judgeTroubles(r.recorder, r.plan.Schedule)
	if len(r.plan.Operators) > 0 {
		r.clusterRun.judge()
	}
}

// forget takes everything out of the history that clients can not know.
func (r *recorder) forget() {
	h := &r.history
	h.Dumps, h.Lists = nil, nil
	for i := range h.Polls {
		h.Polls[i].Ghost = nil
	}
	h.Excuses = slices.Clip(h.Excuses[:0])
}

func (r *replicationRun) result() *Result {
	c := r.findings.counters
	r.replicas.count(c)
	operations := c["client.operations"] + c["client.sends"] + c["client.polls"] + c["client.lists"]
	return r.resultOf(operations, r.verdict.Acknowledged, r.verdict.ExcusedCount)
}
