package broker

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/core/wire"
)

// loopBench runs turns and completes every file effect at once, without a disk.
type loopBench struct {
	*harness
	events []env.Event
	turns  int
}

func newLoopBench(b *testing.B, change func(*Config)) *loopBench {
	return &loopBench{harness: newHarness(&testing.T{}, change)}
}

// run delivers an event, and the completions that follow, until nothing follows.
func (l *loopBench) run(ev env.Event) {
	l.events = append(l.events[:0], ev)
	for len(l.events) > 0 {
		l.out.Reset()
		l.broker.Turn(l.now, l.events, &l.out)
		l.turns++
		l.events = l.events[:0]
		for i := range l.out.File {
			op := &l.out.File[i]
			l.events = append(l.events, env.Event{
				Kind: env.EventFileDone, FileOp: op.Op,
				File: op.File, Token: op.Token, N: op.N,
			})
		}
		for i := range l.out.Conn {
			if op := &l.out.Conn[i]; op.Op == env.ConnRespond && op.Token != 0 {
				l.events = append(l.events, env.Event{
					Kind: env.EventResponseSent, Conn: op.Conn,
					Token: op.Token,
				})
			}
		}
	}
}

func (l *loopBench) decode(b *testing.B, m kmsg.Request) *env.Request {
	frame := wire.AppendRequest(nil, 7, "bench", m)
	req := &env.Request{Conn: 1, Bytes: int64(len(frame)), Info: &env.ConnInfo{}}
	decoder := wire.NewDecoder(wire.BrokerListener, wire.DefaultLimits())
	if err := decoder.Decode(frame, req); err != nil {
		b.Fatal(err)
	}
	return req
}

// BenchmarkProduce is the loop's share of one produce request: assign, done, acknowledge.
func BenchmarkProduce(b *testing.B) {
	for name, idempotent := range map[string]bool{"plain": false, "idempotent": true} {
		b.Run(name, func(b *testing.B) {
			l := newLoopBench(b, nil)
			l.createTopic("orders", 1)
			spec := record.Plain()
			if idempotent {
				spec.ProducerID, spec.ProducerEpoch, spec.BaseSequence = 7, 0, 0
			}
			m := l.produceRequest("orders", 0, -1, batch(spec, l.now.WallMs, string(make([]byte, 900))))
			req := l.decode(b, m)
			facts := &req.Body.(*wire.ProduceRequest).Topics[0].Partitions[0].Facts
			l.run(env.Event{Kind: env.EventRequest, Conn: 1, Req: req})
			b.ReportAllocs()
			for b.Loop() {
				if idempotent {
					facts.BaseSequence = facts.BaseSequence.Add(1)
				}
				l.run(env.Event{Kind: env.EventRequest, Conn: 1, Req: req})
			}
			b.ReportMetric(float64(l.turns)/float64(b.N), "turns/op")
			if end := l.broker.host.all[0].HighWatermark(); end < kafka.Offset(b.N) {
				b.Fatalf("appended %d of %d", end, b.N)
			}
		})
	}
}

// BenchmarkTailFetch is a consumer at the end of a log: one batch in, one incremental fetch out.
func BenchmarkTailFetch(b *testing.B) {
	l := newLoopBench(b, nil)
	l.createTopic("orders", 1)
	produce := l.decode(b, l.produceRequest("orders", 0, 1,
		batch(record.Plain(), l.now.WallMs, string(make([]byte, 900)))))
	open := l.fetchRequest("orders", 0, 0)
	open.SessionEpoch = 0
	l.ask(2, open)
	session := l.broker.sessions.order[0]
	next := l.fetchRequest("orders", 0, 0)
	next.SessionID, next.SessionEpoch = session.id, 1
	fetch := l.decode(b, next)
	fetch.Conn = 2
	body := fetch.Body.(*wire.FetchRequest)
	l.run(env.Event{Kind: env.EventRequest, Conn: 1, Req: produce})
	b.ReportAllocs()
	for b.Loop() {
		body.SessionEpoch = session.epoch
		l.run(env.Event{Kind: env.EventRequest, Conn: 2, Req: fetch})
		body.Topics[0].Partitions[0].FetchOffset++
		l.run(env.Event{Kind: env.EventRequest, Conn: 1, Req: produce})
	}
}
