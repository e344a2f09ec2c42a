package invariants

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/node"
	"stet/sim"
)

// found collects what checks find.
type found struct {
	failed  []string
	texts   []string
	checked map[string]int
}

func (f *found) Fails(check, format string, args ...any) {
	f.failed = append(f.failed, check)
	f.texts = append(f.texts, check+": "+fmt.Sprintf(format, args...))
}

func (f *found) Checked(check string) { f.checked[check]++ }

// rig is a cluster of one node that has run for a while under the eyes of the checks.
type rig struct {
	*found
	cluster *Cluster
	world   *sim.World
	machine *sim.Machine
}

// newRig runs a node until it is ready, restarts it after a power loss, and stops the world.
func newRig(t *testing.T) *rig {
	w := sim.NewWorld(7)
	t.Cleanup(w.Close)
	config := node.Config{
		Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig(),
		RequestBudgetBytes: 64 << 20, MaxFrameBytes: 4 << 20,
	}
	config.Broker.NodeID, config.Controller.NodeID = 1, 1
	config.Broker.Listeners = []broker.Listener{{Name: "PLAINTEXT", Port: 9092}}
	config.Controller.Quorum.SnapshotEntries = 4
	r := &rig{found: &found{checked: map[string]int{}}, world: w, machine: w.AddMachine(config)}
	r.cluster = New(r.found, func() int64 { return int64(w.Scheduler.EventCount()) })
	r.cluster.Watch(1, r.machine.Disk)
	r.machine.Tap = r
	for range 3 {
		r.machine.Start()
		require.False(t, w.Run(sim.Minute, r.machine.Ready))
		w.Run(sim.Second, nil)
		r.machine.LosePower(sim.NewRandomFates(w.Entropy.Stream("fates", 0)))
		r.cluster.BrokerEnded(1)
	}
	require.Empty(t, r.texts)
	for _, check := range []string{"Q1", "Q2", "Q3", "Q4", "Q6", "Q7", "Q8", "Q10", "R12"} {
		require.Positive(t, r.checked[check], check)
	}
	return r
}

func (r *rig) Turning(node.LoopID, env.Now, []env.Event) {}

func (r *rig) Turned(l node.LoopID, _ *env.Effects) {
	core := r.machine.Node().Loop(l).Core()
	switch core := core.(type) {
	case *controller.Controller:
		if q := core.Voter(); q != nil {
			r.cluster.Controller(&Voter{
				1, r.machine.Lives(), q.Status(), q, core.Image(), core.Ready(), metadata.BuildLevels(), r.machine.Disk,
			})
		}
	case *broker.Broker:
		r.cluster.Broker(1, metadata.BuildLevels(), core.Image())
	}
}

// liar is a log that says what a test wants.
type liar struct {
	entries []quorum.Entry
	first   uint64
	terms   map[uint64]uint64
}

func (l *liar) FirstIndex() uint64 { return l.first }

func (l *liar) TermAt(i uint64) (uint64, bool) {
	term, ok := l.terms[i]
	return term, ok
}

func (l *liar) Entries(from uint64, _ int64) (out []quorum.Entry) {
	for _, e := range l.entries {
		if e.Index >= from {
			out = append(out, e)
		}
	}
	return out
}

// twin is another voter that is as far as the rig's is, with a log that may lie.
func (r *rig) twin(p sim.Place) (*Voter, *liar) {
	l := &liar{first: founding.Index + 1, terms: map[uint64]uint64{founding.Index: founding.Term}}
	for _, e := range r.cluster.Ledger.Entries() {
		l.entries = append(l.entries, e.Entry)
		l.terms[e.Index] = e.Term
	}
	last := r.cluster.Ledger.Last()
	v := &Voter{
		Place: p, Life: 1, Log: l, Disk: r.machine.Disk, Image: r.cluster.Ledger.Image(last.Index),
		Levels: metadata.BuildLevels(),
	}
	v.Status = quorum.Status{
		Voter: 99, Hard: quorum.HardState{Term: last.Term, Commit: last.Index}, Start: founding, Last: last,
		Durable: last, Applied: last, Generation: 1, FileBytes: 100, SyncedBytes: 100,
	}
	return v, l
}

// firing tells the checks of a voter, and expects them to fail with this one alone.
func (r *rig) firing(t *testing.T, check string, v *Voter) {
	t.Helper()
	r.failed = nil
	r.cluster.Controller(v)
	require.NotEmpty(t, r.failed, check)
	for _, f := range r.failed {
		require.Equal(t, check, f, "%v", r.texts)
	}
}

func (r *rig) next(v *Voter, l *liar, data []byte) quorum.Entry {
	last := r.cluster.Ledger.Last()
	e := quorum.Entry{Index: last.Index + 1, Term: last.Term, Data: data}
	l.entries = append(l.entries, e)
	l.terms[e.Index] = e.Term
	v.Status.Applied = quorum.Position{Index: e.Index, Term: e.Term}
	v.Status.Last = v.Status.Applied
	if image, err := v.Image.ApplyEntry(metadata.Index(e.Index), data); err == nil {
		v.Image = image
	}
	return e
}
