package linearizability_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"stet/linearizability"
	"stet/linearizability/legal"
	"stet/linearizability/tamper"
)

// histories is how many legal histories each kind of tampering is put into.
const histories = 200

func TestTamperingIsRejectedByEveryCheckInScope(t *testing.T) {
	var matrix tamper.Matrix
	for _, kind := range tamper.Kinds() {
		applied := 0
		for seed := uint64(0); applied < histories; seed++ {
			if seed > 20*histories {
				t.Fatalf("%s fits into %d of %d histories only", kind.Name, applied, seed)
			}
			random := rand.New(rand.NewPCG(seed, 2))
			h := legal.History(random, legal.Everything(200+random.IntN(600)))
			damaged, ok := kind.Apply(h, random)
			if !ok {
				continue
			}
			applied++
			verdict := linearizability.Judge(damaged, linearizability.Options{})
			matrix.Add(kind, verdict)
			for _, id := range kind.Scope {
				if !slices.Contains(verdict.Failed, id) {
					t.Errorf("seed %d: %s is not rejected by %s", seed, kind.Name, id)
				}
			}
			if verdict.First == linearizability.Malformed {
				t.Fatalf("seed %d: %s breaks the conventions: %v", seed, kind.Name,
					verdict.Violations())
			}
		}
	}
	t.Log("\n" + matrix.String())
	if misses := matrix.Misses(); len(misses) > 0 {
		t.Fatal(misses)
	}
}

func TestEveryCheckHasTamperingInItsScope(t *testing.T) {
	for _, c := range linearizability.Checkers() {
		inScope := slices.ContainsFunc(tamper.Kinds(), func(k tamper.Kind) bool {
			return slices.Contains(k.Scope, c.ID)
		})
		if !inScope {
			t.Errorf("no tampering is in the scope of %s", c.ID)
		}
	}
}
