package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	coremetadata "stet/core/metadata"
	"stet/core/record"
	"stet/core/wire"
	"stet/linearizability/metadata"
	"stet/node"
	"stet/scenarios/schedule"
	"stet/sim"
	"stet/sim/client"
)

// played is a run of a cluster of one controller without faults, up to its judgement.
func played(t *testing.T) *clusterRun {
	s := alone()
	s.cluster = func(d draw, p *clusterPlan) {
		p.machines(1, 1, true)
		p.operate(d, weights{
			{schedule.CreateTopic, 4},
			{schedule.Write, 4},
			{schedule.ReadAll, 2},
			{schedule.SetTopic, 2},
			{schedule.GetTopic, 2},
		}, 2, 30)
		for i := range p.Operators {
			for j := range p.Operators[i].Operations {
				p.Operators[i].Operations[j].Topic, p.Operators[i].Operations[j].Replicas = 1, 1
			}
		}
		p.End.CleanStop = false
	}
	r := newClusterRun(s, 1, Options{Calm: true}, clusterPlanOf(s, 1, Options{Calm: true}))
	t.Cleanup(r.close)
	r.play()
	require.Empty(t, r.findings.failed, "%v", r.findings.evidence)
	for _, check := range []Check{"H1", "H2", "M1", "M2", "Q9"} {
		require.Positive(t, r.findings.counters["checked."+string(check)], check)
	}
	return r
}

// firing expects a check, and no other, to fail now.
func (r *clusterRun) firing(t *testing.T, c Check, look func()) {
	t.Helper()
	r.findings.failed = nil
	look()
	require.Equal(t, []Check{c}, r.findings.failed, "%v", r.findings.evidence)
}

func TestADirectoryOfNobodyFiresM2(t *testing.T) {
	r := played(t)
	r.machines[0].Disk.Put(env.Path{Name: "t9-0/partition.metadata"},
		[]byte("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAABw"))
	r.firing(t, "M2", r.inspect)
}

func TestARemovalOfAHostedReplicaFiresM2(t *testing.T) {
	r := played(t)
	id := r.cargo.acked[0].id
	name := r.watch.state.Ledger.Entries()[len(r.watch.state.Ledger.Entries())-1].Image.TopicByID(id).Name
	for _, m := range r.machines {
		if len(m.Disk.Entries(env.Path{Name: name + "-0"})) > 0 {
			job := &commitlog.DeleteJob{Path: env.Path{Name: name + "-0"}}
			r.firing(t, "M2", func() {
				r.watch.checkRemovals(m, &env.Effects{Jobs: []env.JobStart{{Job: job}}})
			})
			return
		}
	}
	t.Fatal("nobody hosts the topic")
}

func TestARecordOfAnotherTopicFiresM1(t *testing.T) {
	r := played(t)
	p := r.cargo.acked[0]
	name := r.watch.state.Ledger.Entries()[len(r.watch.state.Ledger.Entries())-1].Image.TopicByID(p.id).Name
	var b record.Builder
	b.Spec = record.Plain()
	b.Add(record.Record{Timestamp: sim.WallEpochMs, Value: []byte(name + "|0|00000000000000000000000000000001|7")})
	dir := name + "-0"
	for _, m := range r.machines {
		if len(m.Disk.Entries(env.Path{Name: dir})) > 0 {
			m.Disk.Put(env.Path{Name: dir + "/00000000000000000000.log"}, b.Build(nil, &record.Scratch{}))
		}
	}
	r.cargo.acked = nil
	r.firing(t, "M1", r.inspect)
}

func TestWhatAValueIsForIsJudged(t *testing.T) {
	c := &cargo{}
	a := &client.Address{Name: "t1", ID: kafka.TopicID{1}, Partition: 2, Version: 13}
	byID := c.value(a)
	a.Version = 9
	byName := c.value(a)
	for _, x := range []struct {
		sound bool
		value []byte
		name  string
		id    kafka.TopicID
		p     kafka.PartitionID
	}{
		{true, byID, "t1", kafka.TopicID{1}, 2},
		{false, byID, "t1", kafka.TopicID{2}, 2},
		{false, byID, "t1", kafka.TopicID{1}, 0},
		{false, byID, "t2", kafka.TopicID{1}, 2},
		{true, byName, "t1", kafka.TopicID{2}, 2}, // whatever the name meant
		{false, byName, "t2", kafka.TopicID{1}, 2},
		{false, []byte("x"), "t1", kafka.TopicID{1}, 2},
	} {
		require.Equal(t, x.sound, judgeValue(x.value, x.name, x.id, x.p) == "", "%s", x.value)
	}
}

func TestAnAcknowledgedRecordThatIsGoneFiresH1(t *testing.T) {
	r := played(t)
	r.cargo.acked[0].offset += 1000
	r.firing(t, "H1", r.inspect)
	r.watch.damaged[r.cargo.acked[0].on] = true
	r.findings.failed = nil
	r.inspect()
	require.Empty(t, r.findings.failed, "a machine that lost power owes nothing")
}

func TestTwoValuesAtAnOffsetFireH2(t *testing.T) {
	r := played(t)
	r.firing(t, "H2", func() { r.cargo.see(r.cargo.acked[0].slot, []byte("another")) })
}

func TestAnAnswerThatTheLogContradictsFiresQ9(t *testing.T) {
	r := played(t)
	for i := range r.ledger.history.Operations {
		if o := &r.ledger.history.Operations[i]; o.Kind == metadata.Create && o.Outcome == metadata.OK {
			o.Value = "never"
		}
	}
	r.firing(t, "Q9", r.judge)
}

func TestAClusterWithADeadMachineHasNotConverged(t *testing.T) {
	r := played(t)
	require.True(t, r.converged())
	r.saboteur.done = append(r.saboteur.done, schedule.Fault{Do: schedule.Action{Verb: schedule.Kill, Down: sim.Second}})
	r.saboteur.last = len(r.saboteur.done) - 1
	r.machines[1].Kill()
	require.False(t, r.converged())
	require.Contains(t, r.missing, "does not run")
	r.world.Run(sim.Minute, r.converged)
	require.True(t, r.converged())
}

func TestMetadataOfAControllerThatDoesNotLeadFireQ10(t *testing.T) {
	r := played(t)
	m := r.machines[1]
	r.watch.sources.dialed[m.Place] = map[env.ConnID]kafka.BrokerID{7: 1}
	answer := func(leader int32) []env.Event {
		return []env.Event{{Kind: env.EventResponse, Conn: 7, Res: &wire.MetadataFetchResponse{LeaderID: leader}}}
	}
	r.watch.sources.told(m, answer(1))
	require.Empty(t, r.findings.failed)
	r.firing(t, "Q10", func() { r.watch.sources.told(m, answer(2)) })
	require.Equal(t, kafka.BrokerID(3), nodeAt("n3:9093", 1))
	require.Equal(t, kafka.BrokerID(1), nodeAt("", 1))
}

func TestAControllerThatDoesNotResignFiresL6(t *testing.T) {
	r := played(t)
	c := controllerOf(r.machines[0])
	d := r.watch.deposed
	d.since[r.machines[0].Place] = &overlap{sum: sim.Minute}
	d.turned(r.machines[0], c)
	require.Empty(t, d.since, "nobody has replaced it")
	r.firing(t, "L6", func() { d.beside(r.machines[0], c, &overlap{sum: sim.Minute}) })
}

// TestTheBudgetOfAClusterIsRecoverable holds every plan of a cluster to what the promise covers: deaths
// and waits end within the time that the run has, a bounded number of calls fails.
func TestTheBudgetOfAClusterIsRecoverable(t *testing.T) {
	for _, s := range Clusters() {
		for seed := range uint64(200) {
			p := clusterPlanOf(s, seed+1, Options{})
			require.LessOrEqual(t, p.faults.disk.budget, 12)
			require.Empty(t, p.Faults)
			require.NotEmpty(t, p.brokers())
			require.NotEmpty(t, p.controllers())
			for _, x := range p.faults.strikes {
				require.LessOrEqual(t, x.crash.down, 10*sim.Second)
				if x.verb != schedule.Clock {
					require.LessOrEqual(t, x.span, 20*sim.Second)
				}
				require.LessOrEqual(t, len(x.crash.again), 3)
			}
			require.NoError(t, reparsed(p.Schedule))
		}
	}
}

func TestOldSoftwareInAClusterOfANewLevelFiresM4(t *testing.T) {
	r := played(t)
	r.watch.levels[1] = levelsOf(&schedule.Machine{MachineSettings: schedule.MachineSettings{Level: 1}})
	m := r.machines[0]
	r.watch.brokerEnded(m)
	r.firing(t, "M4", func() { m.Tap.Turned(node.BrokerLoop, &env.Effects{}) })
}

func TestALevelThatIsSaidToBeInForceAndIsNotFiresM4(t *testing.T) {
	r := played(t)
	o := r.newOperator(firstOperator, r.plan.Clients.Impatience)
	op := &schedule.Operation{Kind: schedule.RaiseLevel}
	op.Level = 3
	r.firing(t, "M4", func() { o.judgeLevel(op, 2, kafka.None) })
	op.Kind, op.Level = schedule.LowerLevel, 1
	r.firing(t, "M4", func() { o.judgeLevel(op, 2, kafka.None) })
}

func TestAnIndexBelowWhatWasKnownFiresQ9(t *testing.T) {
	r := played(t)
	m := r.machines[0]
	answer := func(slot, index int64) []env.Event {
		return []env.Event{{Kind: env.EventResponse, Conn: 7, Slot: env.Slot(slot), Res: &wire.MetadataIndexResponse{Index: index}}}
	}
	f := r.watch.fresh
	f.known = 20
	f.asked[m.Place] = map[asking]coremetadata.Index{{7, 1}: f.known, {7, 2}: f.known}
	f.told(m, answer(1, 20))
	f.told(m, answer(3, 1)) // nobody asked
	require.Empty(t, r.findings.failed)
	r.firing(t, "Q9", func() { f.told(m, answer(2, 19)) })
}
