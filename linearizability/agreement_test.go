package linearizability

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"stet/core/kafka"
)

// smallOrder draws a few appends and reads with arbitrary intervals: legal ones, and many that
// are not. Some appends are unbounded, as unknown outcomes are; offsets have gaps.
func smallOrder(random *rand.Rand) order {
	var o order
	at := kafka.Offset(random.IntN(3))
	spread := 4 + random.IntN(60)
	for i := range 1 + random.IntN(7) {
		call := Step(1 + i*random.IntN(8) + random.IntN(spread))
		a := appendOp{
			base: at, count: 1 + random.IntN(2), call: call,
			ret: call + Step(random.IntN(20)),
		}
		if random.IntN(5) == 0 {
			a.ret = Never
		}
		o.appends = append(o.appends, a)
		at += kafka.Offset(a.count + random.IntN(2))
	}
	for range random.IntN(5) {
		call := Step(1 + random.IntN(spread+20))
		whole := o.appends[random.IntN(len(o.appends))]
		end := whole.base
		if random.IntN(3) > 0 {
			end += kafka.Offset(whole.count)
		}
		o.reads = append(o.reads, readOp{
			end: end, call: call, strict: true,
			ret: call + Step(random.IntN(20)),
		})
	}
	return o
}

// inOnePiece asks Porcupine without cutting.
func inOnePiece(o order, next step) porcupine.CheckResult {
	return piece{0, o.operations()}.check(next, time.Minute)
}

func TestBothCheckersAgreeOnTheRelaxedQuestion(t *testing.T) {
	legal, illegal := 0, 0
	for seed := range uint64(20_000) {
		o := smallOrder(rand.New(rand.NewPCG(seed, 3)))
		guided := len(o.relaxedViolations()) == 0
		want := map[bool]porcupine.CheckResult{true: porcupine.Ok, false: porcupine.Illegal}[guided]
		if got := inOnePiece(o, relaxedStep); got != want {
			t.Fatalf("seed %d: offset-guided says %t, Porcupine %s: %+v", seed, guided, got, o)
		}
		if guided {
			legal++
		} else {
			illegal++
		}
	}
	t.Logf("%d legal, %d illegal", legal, illegal)
	if min(legal, illegal) < 2_000 {
		t.Fatal("the generator is too polite")
	}
}

func TestBothCheckersAgreeOnTheStrictQuestion(t *testing.T) {
	legal, illegal := 0, 0
	for seed := range uint64(20_000) {
		o := smallOrder(rand.New(rand.NewPCG(seed, 4)))
		guided := len(o.relaxedViolations())+len(o.strictViolations()) == 0
		want := map[bool]porcupine.CheckResult{true: porcupine.Ok, false: porcupine.Illegal}[guided]
		if got := inOnePiece(o, strictStep); got != want {
			t.Fatalf("seed %d: offset-guided says %t, Porcupine %s: %+v", seed, guided, got, o)
		}
		if guided {
			legal++
		} else {
			illegal++
		}
	}
	t.Logf("%d legal, %d illegal", legal, illegal)
	if min(legal, illegal) < 2_000 {
		t.Fatal("the generator is too polite")
	}
}

func TestCuttingAtQuiescentPointsChangesNoAnswer(t *testing.T) {
	cut := 0
	for seed := range uint64(5_000) {
		o := smallOrder(rand.New(rand.NewPCG(seed, 5)))
		want, got := inOnePiece(o, relaxedStep), porcupine.Ok
		pieces := cutAtQuiescence(o.operations(), 1)
		for _, p := range pieces {
			if p.check(relaxedStep, time.Minute) != porcupine.Ok {
				got = porcupine.Illegal
			}
		}
		if got != want {
			t.Fatalf("seed %d: in one piece %s, in %d pieces %s", seed, want, len(pieces), got)
		}
		if len(pieces) > 1 {
			cut++
		}
	}
	if cut < 1_000 {
		t.Fatalf("only %d histories were cut", cut)
	}
}

func TestRunningOutOfTimeIsAViolation(t *testing.T) {
	h := &History{}
	p := Partition{Topic: "t"}
	for i := range 400 {
		h.Sends = append(h.Sends, Send{
			Client: ClientID(i), Partition: p, Acks: -1,
			Invoke: 1, Return: 1000, Records: []Value{{Client: ClientID(i), Nonce: 7, Invoke: 1}},
			Attempts: []Attempt{{Ending: Answered, BaseOffset: kafka.Offset(399 - i)}},
		})
	}
	verdict := Judge(h, Options{PorcupineTimeout: time.Nanosecond})
	if verdict.First != PorcupineOrder {
		t.Fatalf("first failing check is %q", verdict.First)
	}
}
