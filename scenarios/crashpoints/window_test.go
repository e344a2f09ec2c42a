package crashpoints

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/sim"
)

// strikeFirst crashes the roll script at its first operation of a kind and returns the operation,
// and the size and existence of its file in the image.
func strikeFirst(t *testing.T, kind sim.DiskOpKind, m moment) (op submitted, size int64, exists bool) {
	t.Helper()
	ops := rehearse(&roll, true, -1, moment{}, nil).window.ops
	target := slices.IndexFunc(ops, func(s submitted) bool { return s.Kind == kind })
	require.GreaterOrEqual(t, target, 0)
	e := &enumeration{script: &roll, flushMode: true}
	stage := e.crash(&ops[target], target, m)
	require.Empty(t, hit(stage, ops, target))
	content, exists := stage.image.disk.Bytes(ops[target].Path)
	return ops[target], int64(len(content)), exists
}

func TestAMomentLeavesWhatItSays(t *testing.T) {
	op, before, _ := strikeFirst(t, sim.DiskWrite, moment{when: early})
	require.Equal(t, op.Off, before, "nothing was written")
	for _, c := range []struct {
		moment
		want int64
	}{
		{moment{when: held}, 0},
		{moment{when: early, own: half}, op.Len / 2},
		{moment{when: late, own: most}, op.Len - 1},
		{moment{when: early, own: whole}, op.Len},
		{moment{when: after}, op.Len},
	} {
		_, size, _ := strikeFirst(t, sim.DiskWrite, c.moment)
		require.Equal(t, before+c.want, size, "%+v", c.moment)
	}
	for _, when := range []timing{early, held, late} {
		_, _, exists := strikeFirst(t, sim.DiskCreate, moment{when: when})
		require.False(t, exists)
	}
	_, _, exists := strikeFirst(t, sim.DiskCreate, moment{when: late, own: whole})
	require.True(t, exists)
	_, _, exists = strikeFirst(t, sim.DiskCreate, moment{when: after})
	require.True(t, exists)
}

func TestAHeldCallLetsTheOthersGoOn(t *testing.T) {
	ops := rehearse(&roll, true, -1, moment{}, nil).window.ops
	target := slices.IndexFunc(ops, func(s submitted) bool { return s.Kind == sim.DiskCreate })
	e := &enumeration{script: &roll, flushMode: true}
	soon := e.crash(&ops[target], target, moment{when: early})
	later := e.crash(&ops[target], target, moment{when: held})
	require.Greater(t, len(later.window.ops), len(soon.window.ops))
}

func TestAMissedCrashPointIsNoticed(t *testing.T) {
	ops := rehearse(&roll, true, -1, moment{}, nil).window.ops
	e := &enumeration{script: &roll, flushMode: true}
	stage := e.crash(&ops[5], 5, moment{when: after})
	require.Empty(t, hit(stage, ops, 5))

	other := slices.Clone(ops)
	other[2].Ordinal++
	require.Contains(t, hit(stage, other, 5), "operation 3 is")
	require.Contains(t, hit(stage, ops, len(ops)-1), "the run ended before")
	stage.window.missed = "why"
	require.Equal(t, "why", hit(stage, ops, 5))
	require.Equal(t, "no crash", hit(rehearse(&roll, true, -1, moment{}, nil), ops, 5))
}
