package record

import (
	"bytes"
	"fmt"
	"testing"

	"stet/core/env"
)

func benchBatch(n, valueBytes int, codec Codec) []byte {
	b := Builder{Spec: Plain()}
	b.Spec.Codec = codec
	value := bytes.Repeat([]byte("0123456789abcdef"), valueBytes/16)
	for i := range n {
		b.Add(Record{Timestamp: int64(i), Value: value})
	}
	return b.Build(nil, new(Scratch))
}

func BenchmarkExamine(b *testing.B) {
	for _, size := range []int{96, 1024} {
		for _, codec := range allCodecs {
			batch := benchBatch(64<<10/size, size, codec)
			b.Run(fmt.Sprintf("%s/%dB", codec, size), func(b *testing.B) {
				scratch := new(Scratch)
				b.SetBytes(64 << 10)
				b.ReportAllocs()
				for range b.N {
					scratch.Examine(batch, testLimit)
				}
			})
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	batch := benchBatch(64, 1024, None)
	b.SetBytes(int64(len(batch)))
	b.ReportAllocs()
	for range b.N {
		Check(batch)
	}
}

func BenchmarkStamp(b *testing.B) {
	for _, count := range []int{1, 64, 1024} {
		batch := benchBatch(count, 1024, None)
		b.Run(fmt.Sprintf("%dKB", count), func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				Stamp(batch, env.Patch{Stamp: true, AppendTime: true, MaxStamp: int64(i)})
			}
		})
	}
}
