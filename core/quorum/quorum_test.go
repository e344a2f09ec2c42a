package quorum

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"stet/core/commitlog/logtest"
	"stet/core/env"

	"github.com/stretchr/testify/require"
)

// text is an application state: everything applied so far.
type text string

func (s text) AppendSnapshot(dst []byte) []byte { return append(dst, s...) }

// rig drives a quorum over a disk in memory; its application appends entries to a text.
type rig struct {
	t       *testing.T
	config  Config
	world   *logtest.World
	owner   env.Owner
	q       *Quorum
	out     env.Effects
	applied text
	found   *Recovered
}

func newRig(t *testing.T, seed uint64) *rig {
	r := &rig{t: t, config: DefaultConfig()}
	r.world = logtest.NewWorld(rand.New(rand.NewPCG(seed, 2)))
	return r
}

// boot recovers and runs until nothing is left to do. It says whether the directory was accepted.
func (r *rig) boot() bool {
	r.world.Crash()
	r.out.Reset()
	r.owner++
	r.found = r.recover()
	if r.found.Failure() != nil {
		return false
	}
	r.applied = text(r.found.Snapshot)
	if r.found.Fresh {
		Form(r.found, []uint64{r.found.Voter})
	}
	r.q = New(&r.config, r.owner, r.found, &r.out)
	r.advance()
	r.settle()
	return true
}

func (r *rig) recover() *Recovered {
	job := RecoverJob{Config: &r.config, NodeID: 1, NewDirectory: [16]byte{154}}
	return job.Run(r.world.Disk).(*Recovered)
}

func (r *rig) advance() {
	for _, e := range r.q.Advance(&r.out).Committed {
		r.applied += text(e.Data)
	}
	if r.q.SnapshotDue() {
		r.q.Snapshot(r.applied, &r.out)
	}
	r.world.Perform(&r.out)
}

func (r *rig) step() bool {
	ev, ok := r.world.Step()
	if ok && (ev.Token != 0 || ev.Err != env.OK) {
		r.q.Handle(&ev, &r.out)
		r.advance()
	}
	return ok
}

func (r *rig) settle() {
	for r.step() {
	}
}

// propose proposes and runs until it is committed.
func (r *rig) propose(data string) {
	index, ok := r.q.Propose([]byte(data))
	require.True(r.t, ok)
	r.advance()
	for r.q.Applied().Index < index && r.step() {
	}
	require.Equal(r.t, index, r.q.Applied().Index)
}

func TestVoterLeadsAtOnceAndKeepsItsID(t *testing.T) {
	r := newRig(t, 1)
	require.True(t, r.boot())
	require.True(t, r.found.Fresh)
	require.True(t, r.q.Leading())
	require.Equal(t, uint64(77), r.q.Status().Voter)
	term := r.q.Term()

	r.found = nil
	require.True(t, r.boot())
	require.False(t, r.found.Fresh)
	require.Greater(t, r.q.Term(), term, "each life has a term of its own")
}

func TestProposalIsCommittedOnlyAfterItsSync(t *testing.T) {
	r := newRig(t, 1)
	require.True(t, r.boot())
	index, ok := r.q.Propose([]byte("a"))
	require.True(t, ok)
	r.advance()
	for r.q.Applied().Index < index {
		status := r.q.Status()
		require.Less(t, status.Durable.Index, index)
		require.True(t, r.step())
	}
	require.GreaterOrEqual(t, r.q.Status().Durable.Index, index)
}

// TestRecoveredLogEqualsTheLogInMemory is check Q8: same last index, same term, same entries.
func TestRecoveredLogEqualsTheLogInMemory(t *testing.T) {
	r := newRig(t, 1)
	r.config.SnapshotEntries = 5
	require.True(t, r.boot())
	for i := range 23 {
		r.propose(fmt.Sprintf("%d,", i))
		r.settle()
		before, state := r.q.Status(), r.applied
		again := r.recover()
		require.NoError(t, again.Failure())
		require.Equal(t, before.Last, again.Last())
		require.Equal(t, before.Hard, again.Hard)
		for _, e := range again.Entries {
			again.Snapshot = append(again.Snapshot, e.Data...)
		}
		require.Equal(t, string(state), string(again.Snapshot), "snapshot and log equal a replay")
	}
	require.Greater(t, r.q.FirstIndex(), uint64(20))
}

func TestOldFilesGoAfterASnapshot(t *testing.T) {
	r := newRig(t, 1)
	r.config.SnapshotEntries = 3
	require.True(t, r.boot())
	for range 50 {
		r.propose("x")
	}
	r.settle()
	require.Len(t, r.world.Disk.Names(Directory), 2, "one log and one snapshot")
}

func TestFailedSnapshotIsTriedAgainLater(t *testing.T) {
	r := newRig(t, 1)
	r.config.SnapshotEntries = 3
	require.True(t, r.boot())
	r.world.Disk.Fail = func(op, _ string) env.Errno {
		if op == "rename" {
			return env.ENOSPC
		}
		return env.OK
	}
	for range 10 {
		r.propose("x")
	}
	r.settle()
	require.Equal(t, uint64(2), r.q.FirstIndex())
	r.world.Disk.Fail = nil
	for range 10 {
		r.propose("x")
	}
	r.settle()
	require.Greater(t, r.q.FirstIndex(), uint64(10))
}

// TestDamageIsNeverAShorterLog flips every byte of a log that was durable, one at a time. Whatever
// recovery makes of it, it must not be a log without what was acknowledged.
func TestDamageIsNeverAShorterLog(t *testing.T) {
	r := newRig(t, 1)
	require.True(t, r.boot())
	for _, data := range []string{"alpha,", "beta,", "gamma,"} {
		r.propose(data)
	}
	r.settle()
	want := r.applied
	name := Directory + "/" + r.world.Disk.Names(Directory)[0]
	intact := r.world.Disk.Content(name)
	// The last frame is the hard state that commits the last entry; nothing vouches for it.
	vouched := len(intact) - frameFixed - 8
	refused := 0
	for i := range intact {
		damaged := append([]byte(nil), intact...)
		damaged[i] ^= 0x10
		r.world.Disk.SetContent(name, damaged)
		found := r.recover()
		if found.Failure() != nil {
			require.True(t, found.Refused)
			refused++
			continue
		}
		require.GreaterOrEqual(t, i, vouched, "a flip in byte %d was not noticed", i)
		require.Equal(t, r.q.Status().Last, found.Last())
	}
	require.Equal(t, vouched, refused)
	r.world.Disk.SetContent(name, intact)
	require.True(t, r.boot())
	require.Equal(t, want, r.applied)
}

func TestMissingSnapshotIsCorruption(t *testing.T) {
	r := newRig(t, 1)
	r.config.SnapshotEntries = 3
	require.True(t, r.boot())
	for range 10 {
		r.propose("x")
	}
	r.settle()
	names := r.world.Disk.Names(Directory)
	require.Len(t, names, 2)
	r.world.Disk.Remove(env.Path{Name: Directory + "/" + names[1]})
	require.False(t, r.boot())
	require.True(t, r.found.Refused)
	require.ErrorContains(t, r.found.Failure(), names[1])
}

func TestRemovedLogIsCorruptionWhileThereIsASnapshot(t *testing.T) {
	r := newRig(t, 1)
	r.config.SnapshotEntries = 3
	require.True(t, r.boot())
	for range 10 {
		r.propose("x")
	}
	r.settle()
	r.world.Disk.Remove(env.Path{Name: Directory + "/" + r.world.Disk.Names(Directory)[0]})
	require.False(t, r.boot())
	require.True(t, r.found.Refused)
}

// TestRandomCrashesKeepThePrefix crashes many lives in a row at random places.
func TestRandomCrashesKeepThePrefix(t *testing.T) {
	lives := 0
	for seed := range uint64(150) {
		r := newRig(t, seed)
		r.config.SnapshotEntries = 4
		random := rand.New(rand.NewPCG(seed, 3))
		acknowledged, proposed, n := text(""), text(""), 0
		for range 12 {
			lives++
			r.world.Disk.Fuse = random.IntN(60)
			logtest.Attempt(func() {
				require.True(t, r.boot(), "seed %d: %v", seed, r.found)
				require.GreaterOrEqual(t, len(r.applied), len(acknowledged), "seed %d", seed)
				require.Equal(t, acknowledged, r.applied[:len(acknowledged)], "seed %d", seed)
				if len(r.applied) > len(acknowledged) {
					require.Equal(t, proposed, r.applied, "seed %d: only what was under way", seed)
				}
				acknowledged = r.applied
				for range 30 {
					data := fmt.Sprintf("%d,", n)
					n++
					proposed = acknowledged + text(data)
					r.propose(data)
					acknowledged = r.applied
				}
			})
			if random.IntN(3) > 0 {
				r.world.Disk.LosePower()
			} else {
				r.world.Disk.Kill()
			}
		}
		r.world.Disk.Fuse = -1
	}
	t.Logf("%d lives", lives)
}

func FuzzParseLog(f *testing.F) {
	r := newRig(&testing.T{}, 1)
	r.boot()
	r.propose("alpha")
	r.settle()
	f.Add(r.world.Disk.Content(Directory + "/" + r.world.Disk.Names(Directory)[0]))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := parseLog(b, 1, 0)
		if !l.whole && len(l.entries) > 0 {
			t.Fatal("entries of a log that was never in force")
		}
		parseSnapshot(b)
	})
}
