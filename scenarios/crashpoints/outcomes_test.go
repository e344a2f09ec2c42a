package crashpoints

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/sim"
)

var threeQuestions = []question{{"a", 2}, {"b", 3}, {"c", 2}}

func TestEveryCombinationIsListedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range every(threeQuestions) {
		seen[o.String()] = true
	}
	require.Len(t, seen, 2*3*2)
	require.Len(t, every(nil), 1, "with nothing to decide there is one outcome")
}

func TestDeviationsBeginWithTheExtremesAndDoNotRepeat(t *testing.T) {
	carriedOut := func(o outcome) string {
		f := &fates{outcome: o}
		var values []int
		for _, q := range threeQuestions {
			values = append(values, f.answer(q.label, q.options))
		}
		return fmt.Sprint(values)
	}
	list := deviations(threeQuestions, 1000)
	require.Equal(t, "[0 0 0]", carriedOut(list[0]))
	require.Equal(t, "[1 2 1]", carriedOut(list[1]))
	seen := map[string]bool{}
	for _, o := range list {
		seen[carriedOut(o)] = true
	}
	require.Len(t, seen, 2*3*2, "with three questions, single deviations and pairs reach everything")
	require.Len(t, deviations(threeQuestions, 5), 5)
}

// dirty returns a disk with one file that is durable to some bytes, was written to more, and whose
// neighbour has no durable name.
func dirty(t *testing.T, durable, cached int) *sim.Disk {
	t.Helper()
	trace := sim.NewTrace(nil)
	s := sim.NewScheduler(trace)
	t.Cleanup(s.Close)
	d := sim.NewDisk(s, sim.NewFaultLog(trace), sim.NewEntropy(0).Stream("disk", 1), 1, 1)
	d.Put(rootPath("file"), make([]byte, durable))
	owner := s.NewOwner(1)
	mount := d.Mount(owner)
	s.Spawn(0, owner, "writer", func() {
		f, _ := mount.Open(rootPath("file"), 1)
		f.WriteAt([][]byte{make([]byte, cached-durable)}, int64(durable))
	})
	s.RunUntil(sim.Never, nil)
	return d
}

func TestTheCountOfOutcomesIsTheProductOfItsParts(t *testing.T) {
	d := dirty(t, 100, 2*sim.PageSize+100)
	// Three dirty pages, the last with three ways to be torn; sizes 100, one page, two pages, all.
	const want = 2 * 2 * 5 * 4
	list, cut := outcomesOf(d, want)
	require.Len(t, list, want)
	require.Zero(t, cut)
	list, cut = outcomesOf(d, want-1)
	require.Equal(t, int64(want), int64(len(list))+cut)
	require.LessOrEqual(t, len(list), want-1)
	list, cut = outcomesOf(d, 7)
	require.Len(t, list, 7)
	require.Equal(t, int64(want-7), cut)
}

func TestSizesAreTheEndsAndThePageBoundariesNextToThem(t *testing.T) {
	const page = sim.PageSize
	require.Equal(t, []int64{10}, sizesOf(sim.UnsyncedFile{DurableSize: 10, CachedSize: 10}))
	require.Equal(t, []int64{0, 10}, sizesOf(sim.UnsyncedFile{CachedSize: 10}))
	require.Equal(t, []int64{0, page, 4 * page, 4*page + 1}, sizesOf(sim.UnsyncedFile{CachedSize: 4*page + 1}))
	require.Equal(t, []int64{4*page + 1, 4 * page, page, 0}, sizesOf(sim.UnsyncedFile{DurableSize: 4*page + 1}),
		"a truncation that did not happen comes first")
}

func TestATornPageIsTornInTheMiddleOfWhatChanged(t *testing.T) {
	torn := tornPages(sim.UnsyncedFile{DurableSize: 0, CachedSize: sim.PageSize}, 0)
	require.Equal(t, []string{"oooonnnn", "nnnngggg", "nnnnoooo"},
		[]string{torn[0].String(), torn[1].String(), torn[2].String()})
	torn = tornPages(sim.UnsyncedFile{DurableSize: sim.PageSize, CachedSize: sim.PageSize + 2*sim.SectorSize}, 1)
	require.Equal(t, "nooooooo", torn[2].String())
}
