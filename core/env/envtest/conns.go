package envtest

import (
	"encoding/binary"
	"testing"

	"stet/core/env"
)

// frame makes a request with a v1 header and a null client id.
func frame(key, version int16, correlation int32, body ...byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	b = binary.BigEndian.AppendUint32(b, uint32(correlation))
	b = binary.BigEndian.AppendUint16(b, 0xffff)
	return append(b, body...)
}

// fetch is a Fetch v4 of no partitions: it may be in flight with others.
func fetch(correlation int32) []byte {
	body := make([]byte, 4+4+4+4+1+4) // replica, wait, min, max, isolation, topics
	binary.BigEndian.PutUint32(body, 0xffffffff)
	return frame(1, 4, correlation, body...)
}

// apiVersions is an ApiVersions v0: it waits for earlier slots.
func apiVersions(correlation int32) []byte { return frame(18, 0, correlation) }

// request waits for a request with this correlation id.
func request(t *testing.T, h Harness, correlation int32) env.Event {
	t.Helper()
	ev := next(t, h, env.EventRequest)
	if ev.Req.Correlation != correlation {
		t.Fatalf("request %d came where %d was due", ev.Req.Correlation, correlation)
	}
	return ev
}

// receive waits for a frame with this content.
func receive(t *testing.T, p Peer, want string) {
	t.Helper()
	got, ok := p.Receive(t)
	if !ok || string(got) != want {
		t.Fatalf("received %q (open: %v), want %q", got, ok, want)
	}
}

func dial(t *testing.T, h Harness) (Peer, env.ConnID) {
	t.Helper()
	p := h.Dial(t)
	return p, next(t, h, env.EventConnOpened).Conn
}

func responsesLeaveInSlotOrder(t *testing.T, h Harness) {
	p, conn := dial(t, h)
	var slots []env.Slot
	for i := range int32(3) {
		p.Send(t, fetch(i))
		slots = append(slots, request(t, h, i).Slot)
	}
	e := newEffects()
	e.respond(conn, slots[2], "third", 0)
	e.respond(conn, slots[1], "second", 0)
	h.Perform(&e.Effects)
	e = newEffects()
	e.respond(conn, slots[0], "first", 0)
	h.Perform(&e.Effects)
	for _, want := range []string{"first", "second", "third"} {
		receive(t, p, want)
	}
}

func rangesStandWhereTheHeadSays(t *testing.T, h Harness) {
	p, conn := dial(t, h)
	writeFile(t, h, "0123456789")
	p.Send(t, fetch(1))
	slot := request(t, h, 1).Slot
	e := newEffects()
	e.respond(conn, slot, "<>[]", 5,
		env.Range{File: fileA, At: 1, Off: 2, Len: 3}, env.Range{File: fileA, At: 3, Off: 0, Len: 10})
	h.Perform(&e.Effects)
	receive(t, p, "<234>[0123456789]")
	ev := next(t, h, env.EventResponseSent)
	if ev.Token != 5 || ev.N != 13 || ev.Err != env.OK || ev.Conn != conn {
		t.Fatalf("response reported as %+v", ev)
	}
}

func aCopyIsOfTheBytesThatWereThere(t *testing.T, h Harness) {
	p, conn := dial(t, h)
	writeFile(t, h, "0123456789")
	p.Send(t, fetch(1))
	slot := request(t, h, 1).Slot
	e := newEffects()
	e.respond(conn, slot, "<>[]", 5,
		env.Range{File: fileA, At: 1, Off: 2, Len: 3, Copy: true},
		env.Range{File: fileA, At: 3, Off: 0, Len: 10, Copy: true})
	h.Perform(&e.Effects)
	next(t, h, env.EventResponseSent)
	e = newEffects() // the peer has not looked yet
	e.file(env.FileOp{Op: env.FileTruncate, File: fileA, Token: 6})
	h.Perform(&e.Effects)
	done(t, h, 6, env.OK)
	receive(t, p, "<234>[0123456789]")
}

func aRemovedFileStaysReadableForItsLease(t *testing.T, h Harness) {
	p, conn := dial(t, h)
	writeFile(t, h, "still here")
	p.Send(t, fetch(1))
	p.Send(t, fetch(2))
	first, second := request(t, h, 1).Slot, request(t, h, 2).Slot
	e := newEffects() // the second answer takes its lease, but can not leave yet
	e.respond(conn, second, "", 6, env.Range{File: fileA, Len: 10})
	h.Perform(&e.Effects)
	e = newEffects()
	e.file(env.FileOp{Op: env.FileRemove, File: fileA, Token: 7})
	h.Perform(&e.Effects)
	done(t, h, 7, env.OK)
	e = newEffects()
	e.respond(conn, first, "go", 0)
	h.Perform(&e.Effects)
	receive(t, p, "go")
	receive(t, p, "still here")
	next(t, h, env.EventResponseSent)
}

func otherKeysWaitForEarlierSlots(t *testing.T, h Harness) {
	p, conn := dial(t, h)
	p.Send(t, fetch(1))
	p.Send(t, apiVersions(2))
	p.Send(t, fetch(3))
	first := request(t, h, 1).Slot
	answer := func(s env.Slot, head string) {
		e := newEffects()
		e.respond(conn, s, head, 0)
		h.Perform(&e.Effects)
		receive(t, p, head)
	}
	answer(first, "one")
	second := request(t, h, 2).Slot // only now, and 3 is still held back
	answer(second, "two")
	answer(request(t, h, 3).Slot, "three")
}

func aCloseLetsAnswersLeaveFirst(t *testing.T, h Harness) {
	p, conn := dial(t, h)
	p.Send(t, fetch(1))
	slot := request(t, h, 1).Slot
	e := newEffects()
	e.respond(conn, slot, "last words", 0)
	e.Conn = append(e.Conn, env.ConnOp{Op: env.ConnClose, Conn: conn, Err: env.EOverload})
	h.Perform(&e.Effects)
	receive(t, p, "last words")
	if got, ok := p.Receive(t); ok {
		t.Fatalf("received %q on a closed connection", got)
	}
	if ev := next(t, h, env.EventConnClosed); ev.Conn != conn || ev.Err != env.EOverload {
		t.Fatalf("end reported as %+v", ev)
	}
}

func aMalformedFrameEndsOnlyItsConnection(t *testing.T, h Harness) {
	bad, badConn := dial(t, h)
	good, conn := dial(t, h)
	bad.Send(t, frame(1, 4, 1, 1, 2, 3)) // half a Fetch
	if got, ok := bad.Receive(t); ok {
		t.Fatalf("received %q for half a frame", got)
	}
	if ev := next(t, h, env.EventConnClosed); ev.Conn != badConn || ev.Err != env.EMalformed {
		t.Fatalf("end reported as %+v", ev)
	}
	good.Send(t, fetch(2))
	e := newEffects()
	e.respond(conn, request(t, h, 2).Slot, "fine", 0)
	h.Perform(&e.Effects)
	receive(t, good, "fine")
}

// nothingFollowsTheEndOfAConnection ends connections in the middle of their answers. The leases that
// were given before the end was told are reported before it, each once.
func nothingFollowsTheEndOfAConnection(t *testing.T, h Harness) {
	writeFile(t, h, "0123456789")
	for range 10 {
		p, conn := dial(t, h)
		var slots []env.Slot
		for i := range int32(40) {
			p.Send(t, fetch(i))
			slots = append(slots, request(t, h, i).Slot)
		}
		for i, slot := range slots {
			if i == 5 {
				p.Close()
			}
			e := newEffects()
			e.respond(conn, slot, "", env.Token(100+i), env.Range{File: fileA, Len: 10})
			h.Perform(&e.Effects)
		}
		reported := map[env.Token]bool{}
		last := env.Token(99)
		ev := nextButTick(t, h)
		for ; ev.Kind == env.EventResponseSent && !reported[ev.Token]; ev = nextButTick(t, h) {
			reported[ev.Token] = true
			last = max(last, ev.Token)
		}
		if ev.Kind != env.EventConnClosed || ev.Conn != conn || len(reported) != int(last)-99 {
			t.Fatalf("%d leases of %d were reported, then %+v", len(reported), last-99, ev)
		}
		e := newEffects() // whatever is under way has time to arrive
		e.Jobs = append(e.Jobs, env.JobStart{Token: 7, Job: copyJob{}})
		h.Perform(&e.Effects)
		if ev := nextButTick(t, h); ev.Kind != env.EventJobDone {
			t.Fatalf("behind the end of its connection: %+v", ev)
		}
	}
}

// nextButTick passes over the ticks by which a Script catches up with what was asked of it.
func nextButTick(t *testing.T, h Harness) env.Event {
	t.Helper()
	ev := h.Next(t)
	for ev.Kind == env.EventTick {
		ev = h.Next(t)
	}
	return ev
}

func writeFile(t *testing.T, h Harness, data string) {
	t.Helper()
	e := newEffects()
	e.file(env.FileOp{Op: env.FileCreate, File: fileA, Path: "a"})
	e.write(fileA, 0, data, 1)
	h.Perform(&e.Effects)
	done(t, h, 1, env.OK)
}
