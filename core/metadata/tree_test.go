package metadata

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func nameOf(n int) topicName { return topicName(fmt.Sprintf("t%d", n)) }

// checkTree fails unless the tree is ordered, heaped and counts right.
func checkTree(t require.TestingT, n *treeNode[topicName, int]) {
	if n == nil {
		return
	}
	require.Equal(t, 1+n.left.size()+n.right.size(), n.count)
	require.Equal(t, n.key.hash(), n.priority)
	for _, child := range []*treeNode[topicName, int]{n.left, n.right} {
		if child != nil {
			require.True(t, n.above(child), "a child is above its parent")
		}
		checkTree(t, child)
	}
}

func contents(tr tree[topicName, int]) map[topicName]int {
	out := map[topicName]int{}
	tr.walk(func(k topicName, v *int) { out[k] = *v })
	return out
}

func TestTreeIsAMapWhoseOldVersionsStay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var now tree[topicName, int]
		model := map[topicName]int{}
		versions := []tree[topicName, int]{now}
		models := []map[topicName]int{{}}
		for range rapid.IntRange(0, 60).Draw(rt, "steps") {
			k := nameOf(rapid.IntRange(0, 20).Draw(rt, "key"))
			if rapid.Bool().Draw(rt, "remove") {
				now = now.remove(k)
				delete(model, k)
			} else {
				v := rapid.Int().Draw(rt, "value")
				now = now.put(k, &v)
				model[k] = v
			}
			versions, models = append(versions, now), append(models, maps.Clone(model))
		}
		for i, version := range versions {
			checkTree(rt, version.root)
			require.Equal(rt, models[i], contents(version))
			require.Equal(rt, len(models[i]), version.size())
			want := slices.Sorted(maps.Keys(models[i]))
			var got []topicName
			version.walk(func(k topicName, _ *int) { got = append(got, k) })
			require.Equal(rt, want, got)
			for n := range 21 {
				v, ok := models[i][nameOf(n)]
				found := version.get(nameOf(n))
				require.Equal(rt, ok, found != nil)
				require.True(rt, !ok || *found == v)
			}
		}
	})
}

func TestShapeOfATreeDependsOnItsKeysAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.IntRange(0, 99), 0, 30, rapid.ID[int]).Draw(rt, "keys")
		other := rapid.Permutation(keys).Draw(rt, "other order")
		extra := rapid.SliceOf(rapid.IntRange(100, 120)).Draw(rt, "removed again")
		v := 1
		var a, b tree[topicName, int]
		for _, k := range keys {
			a = a.put(nameOf(k), &v)
		}
		for _, k := range append(slices.Clone(extra), other...) {
			b = b.put(nameOf(k), &v)
		}
		for _, k := range extra {
			b = b.remove(nameOf(k))
		}
		require.Equal(rt, a, b)
	})
}

func TestManyValuesAreReplacedAtOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var before tree[topicName, int]
		for _, k := range rapid.SliceOf(rapid.IntRange(0, 30)).Draw(rt, "before") {
			before = before.put(nameOf(k), new(int))
		}
		one := 1
		var keys []topicName
		var values []*int
		want := before
		before.walk(func(k topicName, _ *int) {
			if rapid.Bool().Draw(rt, "replaced") {
				keys, values = append(keys, k), append(values, &one)
				want = want.put(k, &one)
			}
		})
		old := contents(before)
		require.Equal(rt, want, before.replaced(keys, values))
		require.Equal(rt, old, contents(before))
	})
}

func TestDiffOfTreesTellsEveryKeyThatDiffers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var before tree[topicName, int]
		for _, k := range rapid.SliceOf(rapid.IntRange(0, 30)).Draw(rt, "before") {
			before = before.put(nameOf(k), new(int))
		}
		after := before
		for _, k := range rapid.SliceOf(rapid.IntRange(0, 30)).Draw(rt, "changed") {
			if rapid.Bool().Draw(rt, "remove") {
				after = after.remove(nameOf(k))
			} else {
				after = after.put(nameOf(k), new(int))
			}
		}
		var want, got []string
		for _, k := range slices.Sorted(maps.Keys(union(contents(before), contents(after)))) {
			if x, y := before.get(k), after.get(k); x != y {
				want = append(want, fmt.Sprintf("%s %p %p", k, x, y))
			}
		}
		diff(before, after, func(k topicName, x, y *int) {
			got = append(got, fmt.Sprintf("%s %p %p", k, x, y))
		})
		require.Equal(rt, want, got)
	})
}

func union(a, b map[topicName]int) map[topicName]int {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func TestTreeOfManyKeysStaysShallow(t *testing.T) {
	var tr tree[topicName, int]
	v := 0
	for i := range 10_000 {
		tr = tr.put(topicName(fmt.Sprintf("topic-%d", i)), &v)
	}
	require.Less(t, depth(tr.root), 50)
}

func depth(n *treeNode[topicName, int]) int {
	if n == nil {
		return 0
	}
	return 1 + max(depth(n.left), depth(n.right))
}
