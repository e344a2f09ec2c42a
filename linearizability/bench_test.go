package linearizability_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	lin "stet/linearizability"
	"stet/linearizability/legal"
)

func BenchmarkJudge(b *testing.B) {
	for _, events := range []int{1_000, 10_000, 50_000} {
		b.Run(fmt.Sprintf("events=%d", events), func(b *testing.B) {
			shape := legal.Shape{Partitions: 2, Clients: 10, Events: events, StaleReads: true}
			h := legal.History(rand.New(rand.NewPCG(1, 12)), shape)
			for b.Loop() {
				if verdict := lin.Judge(h, lin.Options{}); !verdict.OK() {
					b.Fatal(verdict.Evidence())
				}
			}
			b.ReportMetric(float64(len(h.Sends)+len(h.Polls)+len(h.Lists)), "ops/history")
		})
	}
}
