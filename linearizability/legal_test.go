package linearizability_test

import (
	"math/rand/v2"
	"testing"

	"stet/linearizability"
	"stet/linearizability/legal"
)

func TestLegalHistoriesPass(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		h := legal.History(random, legal.Everything(200+random.IntN(600)))
		verdict := linearizability.Judge(h, linearizability.Options{})
		if !verdict.OK() {
			t.Fatalf("seed %d: %v", seed, verdict.Violations()[0])
		}
	}
}
