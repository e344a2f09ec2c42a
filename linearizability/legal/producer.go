package legal

import (
	"slices"

	"stet/core/kafka"
	lin "stet/linearizability"
)

// producer has up to three sends in flight, which the broker serves in order.
type producer struct {
	client     lin.ClientID
	acks       int16
	idempotent bool
	retries    bool
	seq        int64
	inFlight   []*flight
}

// flight is a send under way. It is served, then its answer waits for the high watermark, then the
// answer arrives or is lost.
type flight struct {
	send   lin.Send
	stamps []int64
	p      *partition

	served  bool
	refused kafka.ErrorCode // when the broker refused it
	base    kafka.Offset    // where its newest copy is, NoOffset when it is nowhere
	losses  int             // of the partition, when it was appended

	// overtaken says that a later send of the producer is in the log, and this one is not: the
	// broker would refuse a retry of it as out of sequence.
	overtaken bool
}

func (w *world) newProducer(client lin.ClientID) *producer {
	producer := &producer{client: client, acks: -1, idempotent: true, retries: true}
	switch w.random.IntN(4) {
	case 0:
		if w.shape.Copies {
			producer.idempotent = false
		}
	case 1:
		if w.shape.Weak {
			producer.acks = int16(w.random.IntN(2))
			producer.idempotent, producer.retries = false, false
		}
	}
	return producer
}

func (w *world) invoke(producer *producer, p *partition) {
	if len(producer.inFlight) >= 3 {
		return
	}
	f := &flight{p: p, base: kafka.NoOffset, send: lin.Send{
		Client: producer.client, Partition: p.name, Acks: producer.acks,
		Idempotent: producer.idempotent, Invoke: w.step,
	}}
	for range 1 + w.random.IntN(3)*w.random.IntN(2) {
		f.send.Records = append(f.send.Records, lin.Value{
			Client: producer.client, Seq: producer.seq, Nonce: w.random.Uint64(), Invoke: w.step,
		})
		f.stamps = append(f.stamps, 1_000+int64(w.step)+w.random.Int64N(60))
		producer.seq++
	}
	producer.inFlight = append(producer.inFlight, f)
}

// serve lets the broker take the producer's next request.
func (w *world) serve(producer *producer) {
	for _, f := range producer.inFlight {
		if !f.served {
			w.take(producer, f)
			return
		}
	}
}

func (w *world) take(producer *producer, f *flight) {
	f.served, f.refused = true, kafka.None
	switch dice := w.random.IntN(100); {
	case f.send.Idempotent && f.base >= 0: // a retry of what is in the log
	case dice < 5:
		f.refused = kafka.NotEnoughReplicas
	case dice < 8:
		f.refused = kafka.NotLeaderOrFollower
	default:
		f.base, f.losses = f.p.append(w.batchOf(f)), f.p.losses
		producer.overtake(f)
	}
}

func (p *producer) overtake(by *flight) {
	for _, f := range p.inFlight {
		if f == by {
			return
		}
		f.overtaken = f.overtaken || f.p == by.p && f.base < 0
	}
}

func (w *world) batchOf(f *flight) batch {
	b := batch{count: len(f.send.Records)}
	for i, value := range f.send.Records {
		b.records = append(b.records, lin.Observed{Value: value, Timestamp: f.stamps[i]})
	}
	return b
}

// answer delivers the answer to one of the producer's requests that has one, or loses it.
func (w *world) answer(producer *producer) {
	if len(producer.inFlight) == 0 {
		return
	}
	f := producer.inFlight[w.random.IntN(len(producer.inFlight))]
	if f.send.Acks == 0 {
		w.returns(producer, f, lin.Attempt{Ending: lin.Answered, BaseOffset: kafka.NoOffset})
		return
	}
	if w.chance(10) || f.served && f.refused != kafka.None {
		w.attemptFails(producer, f)
		return
	}
	if f.ready() {
		w.returns(producer, f, lin.Attempt{Ending: lin.Answered, BaseOffset: f.base})
	}
}

// ready says whether an ok may be answered. What was cut off before is never acknowledged.
func (f *flight) ready() bool {
	if !f.served || f.refused != kafka.None || f.base < 0 || f.losses != f.p.losses {
		return false
	}
	end := f.base + kafka.Offset(len(f.send.Records))
	return f.send.Acks != -1 || end <= f.p.highWatermark
}

// attemptFails ends an attempt without an ok, and retries or gives up.
func (w *world) attemptFails(producer *producer, f *flight) {
	attempt := lin.Attempt{Ending: lin.Lost, BaseOffset: kafka.NoOffset}
	if f.served && f.refused != kafka.None {
		attempt.Ending, attempt.Code = lin.Answered, f.refused
	}
	if !producer.retries || f.overtaken || w.chance(40) {
		w.returns(producer, f, attempt)
		return
	}
	f.send.Attempts = append(f.send.Attempts, attempt)
	f.served = false
}

// returns ends a send. A request that was not served by then is lost on the way.
func (w *world) returns(producer *producer, f *flight, last lin.Attempt) {
	f.send.Attempts = append(f.send.Attempts, last)
	f.send.Return = w.step
	w.record(producer, f)
}

func (w *world) record(producer *producer, f *flight) {
	producer.inFlight = slices.DeleteFunc(producer.inFlight, func(o *flight) bool {
		return o == f
	})
	w.history.Sends = append(w.history.Sends, f.send)
}

// forget makes the broker forget what a loss cut off, so that a retry appends it anew.
func (w *world) forget(p *partition, from kafka.Offset) {
	for _, producer := range w.producers {
		for _, f := range producer.inFlight {
			if f.p == p && f.base >= from {
				f.base = kafka.NoOffset
			}
		}
	}
}

// drain ends a producer: what can be answered is, the rest is abandoned, some of it without even
// a timeout.
func (w *world) drain(producer *producer) {
	for len(producer.inFlight) > 0 {
		w.tick()
		f := producer.inFlight[0]
		if !f.served && w.chance(50) {
			w.take(producer, f)
		}
		f.p.commit()
		switch {
		case f.ready() && f.send.Acks != 0:
			w.returns(producer, f, lin.Attempt{Ending: lin.Answered, BaseOffset: f.base})
		case w.chance(50):
			w.record(producer, f)
		default:
			w.returns(producer, f, lin.Attempt{Ending: lin.Lost, BaseOffset: kafka.NoOffset})
		}
	}
}
