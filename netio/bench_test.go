package netio

import (
	"io"
	"testing"

	"stet/core/env"
)

// echo answers every frame, from the goroutine that reads.
type echo struct {
	answer []env.Part
	writer env.ConnWriter
	buffer *block
}

func (e *echo) Accept(w env.ConnWriter, _ env.ConnInfo) env.ConnReader {
	e.writer = w
	return e
}

func (e *echo) Reserve(size int32) (env.Buffer, env.Verdict) {
	if e.buffer == nil || len(e.buffer.b) != int(size) {
		e.buffer = &block{b: make([]byte, size), live: nil}
	}
	e.buffer.refs.Store(1 << 30) // reused, never released
	return e.buffer, env.Continue
}

func (e *echo) Deliver(env.Buffer) env.Verdict {
	e.writer.Send(e.answer)
	return env.Continue
}

func (e *echo) Closed(env.Errno) {}

func benchEcho(b *testing.B, request []byte, answer []env.Part, answerBytes int) {
	config := Default()
	config.Counters = new(Counters)
	l, err := config.Listen("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	e := &echo{answer: answer}
	go l.Serve(e)
	peer, err := dialPlain(l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer peer.Close()
	back := make([]byte, answerBytes)
	b.SetBytes(int64(len(request) + answerBytes))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := peer.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(peer, back); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(config.Counters.Reads.Load())/float64(b.N), "reads/op")
}

func BenchmarkSmallRequest(b *testing.B) {
	benchEcho(b, framed(string(make([]byte, 200))), []env.Part{{Bytes: make([]byte, 200)}}, 200)
}

func BenchmarkProduce64KB(b *testing.B) {
	benchEcho(b, framed(string(make([]byte, 64<<10))), []env.Part{{Bytes: make([]byte, 50)}}, 50)
}

func BenchmarkFetch1MBSendfile(b *testing.B) {
	segment, _ := newFile(b, 1<<20)
	benchEcho(b, framed("fetch"),
		[]env.Part{{Bytes: make([]byte, 50)}, {File: segment, Len: 1 << 20}}, 50+1<<20)
}

func BenchmarkFetch1MBCopied(b *testing.B) {
	segment, _ := newFile(b, 1<<20)
	benchEcho(b, framed("fetch"),
		[]env.Part{{Bytes: make([]byte, 50)}, {File: &segment.file, Len: 1 << 20}}, 50+1<<20)
}
