package envtest

import (
	"encoding/binary"
	"testing"

	"stet/core/env"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// answerTo is an answer to apiVersions, with an error code to know it by and no keys.
func answerTo(correlation int32, code uint16) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(correlation))
	b = binary.BigEndian.AppendUint16(b, code)
	return binary.BigEndian.AppendUint32(b, 0)
}

func (e *effects) dial(link env.ConnID, addr string) {
	start := e.Mark()
	e.Bytes = append(e.Bytes, addr...)
	e.Conn = append(e.Conn, env.ConnOp{Op: env.ConnDial, Conn: link, Head: e.SpanFrom(start)})
}

func (e *effects) request(link env.ConnID, slot env.Slot, request []byte) {
	start := e.Mark()
	e.Bytes = append(e.Bytes, request...)
	e.Conn = append(e.Conn, env.ConnOp{
		Op: env.ConnSend, Conn: link, Slot: slot, Head: e.SpanFrom(start),
	})
}

// openLink opens the loop's link number n to a peer.
func openLink(t *testing.T, h Harness, n uint64) (env.ConnID, Peer) {
	t.Helper()
	addr, accept := h.Listen(t)
	link := env.MakeLinkID(n)
	e := newEffects()
	e.dial(link, addr)
	h.Perform(&e.Effects)
	opened(t, h, link)
	return link, accept(t)
}

func opened(t *testing.T, h Harness, link env.ConnID) {
	t.Helper()
	if ev := next(t, h, env.EventConnOpened); ev.Conn != link || ev.Info == nil {
		t.Fatalf("opening reported as %+v", ev)
	}
}

// ended waits for the end of a link, and sees to it that nothing of it follows.
func ended(t *testing.T, h Harness, link env.ConnID, err env.Errno) {
	t.Helper()
	end(t, h, nextButTick(t, h), link, err)
}

func end(t *testing.T, h Harness, ev env.Event, link env.ConnID, err env.Errno) {
	t.Helper()
	if ev.Kind != env.EventConnClosed || ev.Conn != link || ev.Err != err {
		t.Fatalf("%+v came where the end of the link was due, with %v", ev, err)
	}
	e := newEffects()
	e.Jobs = append(e.Jobs, env.JobStart{Token: 7, Job: nothingJob{}})
	h.Perform(&e.Effects)
	if ev := nextButTick(t, h); ev.Kind != env.EventJobDone {
		t.Fatalf("behind the end of its link: %+v", ev)
	}
}

// nothingJob takes its time and does nothing.
type nothingJob struct{}

func (nothingJob) Name() string { return "nothing" }

func (nothingJob) Run(d env.Disk) any {
	d.List(env.Path{})
	return nil
}

// answered waits for the answer to a slot.
func answered(t *testing.T, h Harness, link env.ConnID, slot env.Slot, code int16) {
	t.Helper()
	ev := next(t, h, env.EventResponse)
	res, ok := ev.Res.(*kmsg.ApiVersionsResponse)
	if ev.Conn != link || ev.Slot != slot || !ok || res.ErrorCode != code || ev.N != 10 {
		t.Fatalf("answer reported as %+v", ev)
	}
}

func requestsLeaveInOrderAndAnswersFindTheirSlots(t *testing.T, h Harness) {
	link, p := openLink(t, h, 1)
	for slot := env.Slot(1); slot <= 20; {
		e := newEffects()
		for range 1 + slot%3 {
			e.request(link, slot, apiVersions(int32(slot)))
			slot++
		}
		h.Perform(&e.Effects)
	}
	for correlation := range int32(20) {
		receive(t, p, string(apiVersions(correlation+1)))
	}
	for _, slot := range []env.Slot{3, 1, 20} { // in any order
		p.Send(t, answerTo(int32(slot), uint16(10+slot)))
		answered(t, h, link, slot, int16(10+slot))
	}
}

func linksDoNotMix(t *testing.T, h Harness) {
	first, p := openLink(t, h, 1)
	second, q := openLink(t, h, 2)
	e := newEffects()
	e.request(first, 1, apiVersions(1))
	e.request(second, 1, apiVersions(1))
	h.Perform(&e.Effects)
	receive(t, p, string(apiVersions(1)))
	receive(t, q, string(apiVersions(1)))
	q.Send(t, answerTo(1, 2))
	answered(t, h, second, 1, 2)
	p.Close()
	ended(t, h, first, env.EReset)
	e = newEffects()
	e.request(second, 2, apiVersions(2))
	h.Perform(&e.Effects)
	q.Send(t, answerTo(2, 3))
	answered(t, h, second, 2, 3)
}

func aRefusedDialIsOnlyToldAsEnded(t *testing.T, h Harness) {
	link := env.MakeLinkID(1)
	e := newEffects()
	e.dial(link, h.Nobody(t))
	h.Perform(&e.Effects)
	ended(t, h, link, env.ERefused)
}

func theEndOfALinkIsItsLastEvent(t *testing.T, h Harness) {
	link, p := openLink(t, h, 1)
	e := newEffects()
	for slot := env.Slot(1); slot <= 10; slot++ {
		e.request(link, slot, apiVersions(int32(slot)))
	}
	h.Perform(&e.Effects)
	receive(t, p, string(apiVersions(1)))
	p.Send(t, answerTo(1, 0))
	answered(t, h, link, 1, 0)
	p.Close() // nine are under way; they get no event of their own
	ended(t, h, link, env.EReset)
}

func aClosedLinkEndsAtOnce(t *testing.T, h Harness) {
	link, p := openLink(t, h, 1)
	e := newEffects()
	e.request(link, 1, apiVersions(1))
	h.Perform(&e.Effects)
	receive(t, p, string(apiVersions(1)))
	e = newEffects()
	e.Conn = append(e.Conn, env.ConnOp{Op: env.ConnClose, Conn: link, Err: env.EOverload})
	h.Perform(&e.Effects)
	ended(t, h, link, env.EOverload)
	if got, ok := p.Receive(t); ok {
		t.Fatalf("received %q over a closed link", got)
	}
}

// aLinkGivenUpWhileItIsDialledEndsOnce closes a link which may or may not have come to stand by then.
func aLinkGivenUpWhileItIsDialledEndsOnce(t *testing.T, h Harness) {
	addr, _ := h.Listen(t)
	link := env.MakeLinkID(1)
	e := newEffects()
	e.dial(link, addr)
	e.Conn = append(e.Conn, env.ConnOp{Op: env.ConnClose, Conn: link, Err: env.ETimedOut})
	h.Perform(&e.Effects)
	ev := nextButTick(t, h)
	if ev.Kind == env.EventConnOpened {
		ev = nextButTick(t, h)
	}
	end(t, h, ev, link, env.ETimedOut)
}

func aLinkEndsWhenItsPeerTalksNonsense(t *testing.T, h Harness) {
	for i, nonsense := range [][]byte{
		answerTo(2, 0),     // not asked for
		answerTo(1, 0)[:5], // cut short
		answerTo(1, 0)[:3], // too short for an answer
		append(answerTo(1, 0)[:6], 0x7f, 0xff, 0xff, 0xff), // more keys than bytes
	} {
		link, p := openLink(t, h, uint64(i+1))
		e := newEffects()
		e.request(link, 1, apiVersions(1))
		h.Perform(&e.Effects)
		receive(t, p, string(apiVersions(1)))
		p.Send(t, nonsense)
		ended(t, h, link, env.EMalformed)
	}
	link, p := openLink(t, h, 9)
	e := newEffects()
	e.request(link, 1, apiVersions(1))
	h.Perform(&e.Effects)
	receive(t, p, string(apiVersions(1)))
	p.Send(t, answerTo(1, 0))
	answered(t, h, link, 1, 0)
	p.Send(t, answerTo(1, 0)) // twice
	ended(t, h, link, env.EMalformed)
}

// aPeerThatTakesNothingIsGivenUp asks much of a peer that reads nothing: what waits is bounded.
func aPeerThatTakesNothingIsGivenUp(t *testing.T, h Harness) {
	link, _ := openLink(t, h, 1)
	large := frame(18, 0, 0, make([]byte, 900<<10)...)
	for slot := env.Slot(1); slot < 100; slot++ {
		binary.BigEndian.PutUint32(large[4:], uint32(slot))
		e := newEffects()
		e.request(link, slot, large)
		h.Perform(&e.Effects)
	}
	ended(t, h, link, env.ETimedOut)
}
