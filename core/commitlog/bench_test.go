package commitlog

import (
	"testing"

	"stet/core/env"
	"stet/core/kafka"
)

// BenchmarkAppend is an append and its completion, of one idempotent producer.
func BenchmarkAppend(b *testing.B) {
	h := newHarness(b, 1, DefaultConfig())
	h.create()
	h.open()
	data := from(0, 0, 1).build()
	facts := examine(data)
	facts.SizeBytes = 1000
	b.ReportAllocs()
	for i := range b.N {
		facts.BaseSequence = kafka.Sequence(i)
		if _, code := h.log.Append(h.now, &facts, bufOf(data), 1, &h.out); code != kafka.None {
			b.Fatal(code)
		}
		ops := h.out.File
		for i := range ops {
			h.done(ops[i], env.OK)
		}
		for _, op := range h.out.File[len(ops):] {
			h.done(op, env.OK)
		}
		h.out.Reset()
	}
}

// BenchmarkFind is a read at the tail.
func BenchmarkFind(b *testing.B) {
	h := newHarness(b, 1, DefaultConfig())
	h.create()
	h.open()
	for i := range 1000 {
		h.mustAppend(plain(1, int64(i), "v"))
	}
	h.settle()
	end := h.log.Written()
	b.ReportAllocs()
	for b.Loop() {
		if f, _ := h.log.Find(end-1, 1<<20, true, end); f.Len == 0 {
			b.Fatal(f)
		}
	}
}
