package metadata

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
)

func TestLegalHistoriesPass(t *testing.T) {
	counts := map[string]int64{}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		v := Judge(legalHistory(random, 20+random.IntN(150)))
		require.Empty(t, v.Violations, "seed %d", seed)
		for _, c := range v.Counts() {
			counts[c.Name] += c.Count
		}
	}
	for _, name := range []string{"changes", "observations", "porcupine", "resolved.ok", "resolved.unknown"} {
		require.Positive(t, counts[name], name)
	}
}

// tampering is a lie that is put into a legal history; ok is false where it does not fit.
type tampering struct {
	name string
	do   func(h *History, random *rand.Rand) bool
}

var tamperings = []tampering{
	{"an acknowledged change is lost", func(h *History, r *rand.Rand) bool {
		return h.some(r, func(o *Operation) bool {
			return o.Outcome == OK && (o.Kind == Create || o.Kind == Set) && h.forget(o)
		})
	}},
	{"a change takes place twice", func(h *History, _ *rand.Rand) bool {
		i := slices.IndexFunc(h.Changes, func(c Change) bool { return c.Kind == Set })
		if i >= 0 {
			h.Changes = append(h.Changes, h.Changes[i])
		}
		return i >= 0
	}},
	{"what was refused takes place", func(h *History, r *rand.Rand) bool {
		return h.some(r, func(o *Operation) bool {
			hit := o.Outcome == OK && o.Kind == Create
			if hit {
				o.Outcome = Exists
			}
			return hit
		})
	}},
	{"a creation is answered with another id", func(h *History, r *rand.Rand) bool {
		return h.some(r, func(o *Operation) bool {
			hit := o.Outcome == OK && o.Kind == Create
			if hit {
				o.ID[9]++
			}
			return hit
		})
	}},
	{"a read is stale", func(h *History, r *rand.Rand) bool {
		return h.some(r, func(o *Operation) bool {
			if o.Kind != Read || o.Outcome != OK || o.Value == "" {
				return false
			}
			for _, c := range h.Changes { // the value of a change that was overwritten before the call
				over := slices.IndexFunc(h.Operations, func(w Operation) bool {
					return w.Kind == Set && w.Outcome == OK && w.Resource == o.Resource && w.Return < o.Call &&
						h.stepOf(&w) > c.Step
				})
				if c.Kind == Set && c.Resource == o.Resource && c.Value != o.Value && over >= 0 && c.Step < o.Call {
					o.Value = c.Value
					return true
				}
			}
			return false
		})
	}},
	{"a topic is not seen for long", func(h *History, r *rand.Rand) bool {
		return h.some(r, func(o *Operation) bool {
			if o.Outcome != OK || o.Kind != Grow && o.Kind != Read || o.Resource.Type != Topic {
				return false
			}
			// Nobody deletes or creates it while the operation lasts, or has a call open that may.
			for i := range h.Operations {
				w := &h.Operations[i]
				if w.Resource == o.Resource && (w.Kind == Create || w.Kind == Delete) &&
					end(w) >= o.Call && w.Call <= o.Return {
					return false
				}
			}
			if o.Kind == Grow && h.forget(o) || o.Kind == Read {
				o.Outcome = Missing
				return true
			}
			return false
		})
	}},
	{"the log has two changes the wrong way round", func(h *History, _ *rand.Rand) bool {
		for i := range h.Changes {
			for k := i + 1; k < len(h.Changes); k++ {
				a, b := h.Changes[i], h.Changes[k]
				x, y := h.author(&a), h.author(&b)
				if a.Kind == Set && b.Kind == Set && a.Resource == b.Resource && x != nil && y != nil &&
					x.Outcome == OK && y.Outcome == OK && x.Return < y.Call {
					h.Changes[i].Value, h.Changes[k].Value = b.Value, a.Value
					return true
				}
			}
		}
		return false
	}},
}

// some tries f on the operations from a drawn one on.
func (h *History) some(r *rand.Rand, f func(*Operation) bool) bool {
	from := r.IntN(len(h.Operations))
	for i := range h.Operations {
		if f(&h.Operations[(from+i)%len(h.Operations)]) {
			return true
		}
	}
	return false
}

func (h *History) changeOf(o *Operation) int {
	return slices.IndexFunc(h.Changes, func(c Change) bool {
		return c.Kind == o.Kind && c.Resource == o.Resource && c.Value == o.Value &&
			c.Partitions == o.Partitions && o.Call <= c.Step && c.Step <= end(o)
	})
}

func (h *History) stepOf(o *Operation) Step {
	if i := h.changeOf(o); i >= 0 {
		return h.Changes[i].Step
	}
	return 0
}

func (h *History) author(c *Change) *Operation {
	for i := range h.Operations {
		if o := &h.Operations[i]; o.mayHaveMade(c) && o.Resource == c.Resource {
			return o
		}
	}
	return nil
}

func (h *History) forget(o *Operation) bool {
	i := h.changeOf(o)
	if i >= 0 {
		h.Changes = slices.Delete(h.Changes, i, i+1)
	}
	return i >= 0
}

func TestTamperingIsFound(t *testing.T) {
	const histories = 60
	for _, kind := range tamperings {
		applied := 0
		for seed := uint64(0); applied < histories; seed++ {
			require.Less(t, seed, uint64(20*histories), "%s fits into %d histories only", kind.name, applied)
			random := rand.New(rand.NewPCG(seed, 2))
			h := legalHistory(random, 60+random.IntN(100))
			if !kind.do(h, random) {
				continue
			}
			applied++
			require.NotEmpty(t, Judge(h).Violations, "%s, seed %d", kind.name, seed)
		}
	}
}

// The two judges are independent: each finds a stale read alone.
func TestEachJudgeFindsAStaleRead(t *testing.T) {
	x := Resource{"broker", "1"}
	op := func(call, ret Step, k Kind, value string) Operation {
		return Operation{Call: call, Return: ret, Kind: k, Resource: x, Key: "k", Value: value, Outcome: OK}
	}
	h := &History{
		Operations: []Operation{op(1, 2, Set, "a"), op(3, 4, Set, "b"), op(5, 6, Read, "a")},
		Changes: []Change{
			{Index: 1, Kind: Set, Resource: x, Key: "k", Value: "a"},
			{Index: 2, Kind: Set, Resource: x, Key: "k", Value: "b"},
		},
	}
	for _, ask := range []func(*judge, *resolved){
		(*judge).guided,
		func(j *judge, r *resolved) { j.porcupine(r, porcupineSteps) },
	} {
		j := &judge{Verdict{counts: map[string]int64{}}}
		all := j.resolve(h)
		require.Empty(t, j.Violations)
		ask(j, all[0])
		require.Len(t, j.Violations, 1)
	}
	h.Operations[2].Call = 3 // now it may have been before the second
	require.Empty(t, Judge(h).Violations)
}

func TestAnUnknownDeletionMayComeLate(t *testing.T) {
	orders := Resource{Topic, "orders"}
	id := kafka.TopicID{1}
	h := &History{
		Operations: []Operation{
			{Call: 1, Return: 2, Kind: Create, Resource: orders, ID: id, Key: "mark", Value: "1", Partitions: 1, Outcome: OK},
			{Call: 3, Kind: Delete, Resource: orders, ID: id},
			{Call: 4, Return: 5, Kind: Probe, Resource: orders, Outcome: Exists},
			{Call: 6, Return: 7, Kind: Probe, Resource: orders, Outcome: OK},
		},
		Changes: []Change{
			{Index: 1, Step: 1, Kind: Create, Resource: orders, ID: id, Key: "mark", Value: "1", Partitions: 1},
			{Index: 2, Step: 6, Kind: Delete, Resource: orders, ID: id},
		},
	}
	require.Empty(t, Judge(h).Violations)
	h.Operations = append(h.Operations, Operation{Call: 8, Return: 9, Kind: Probe, Resource: orders, Outcome: Exists})
	require.NotEmpty(t, Judge(h).Violations, "it does not come back")
	h.Operations = h.Operations[:4]
	h.Changes = h.Changes[:1]
	require.NotEmpty(t, Judge(h).Violations, "nobody has deleted it")
}

// The first deletion may be that of either operation, the second only of the acknowledged one.
func TestWhoIsNeededForALaterChangeHasNotMadeAnEarlierOne(t *testing.T) {
	orders, a, b := Resource{Topic, "orders"}, kafka.TopicID{1}, kafka.TopicID{2}
	create := func(call, ret Step, id kafka.TopicID, mark string) Operation {
		return Operation{Call: call, Return: ret, Kind: Create, Resource: orders, ID: id, Key: "mark", Value: mark, Outcome: OK}
	}
	h := &History{
		Operations: []Operation{
			create(1, 2, a, "1"),
			{Call: 3, Return: 20, Kind: Delete, Resource: orders, Outcome: OK},
			{Call: 4, Kind: Delete, Resource: orders, ID: a},
			create(7, 9, b, "2"),
		},
		Changes: []Change{
			{Step: 1, Kind: Create, Resource: orders, ID: a, Key: "mark", Value: "1"},
			{Step: 5, Kind: Delete, Resource: orders, ID: a},
			{Step: 8, Kind: Create, Resource: orders, ID: b, Key: "mark", Value: "2"},
			{Step: 15, Kind: Delete, Resource: orders, ID: b},
		},
	}
	require.Empty(t, Judge(h).Violations)
	h.Changes = h.Changes[:3] // then it is the first that the acknowledged one has made
	require.Empty(t, Judge(h).Violations)
	h.Changes = append(h.Changes[:1:1], h.Changes[2])
	require.NotEmpty(t, Judge(h).Violations)
}
