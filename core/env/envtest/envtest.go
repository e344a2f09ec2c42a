// Package envtest is the contract suite of a world: what production and simulation must both do
// with effects. A world's test hosts a node loop around a Script, wraps both into a Harness, and
// calls Run.
package envtest

import (
	"testing"
	"time"

	"stet/core/env"
)

// Harness is a world under test.
type Harness interface {
	// Perform has the effects carried out as those of one turn.
	Perform(effects *env.Effects)
	// Next waits for the next event and returns it. It fails the test when none can come.
	Next(t *testing.T) env.Event
	// Disk reads and prepares files; calls are made while no effect is under way.
	Disk() env.Disk
	// Dial opens a client's connection to the loop.
	Dial(t *testing.T) Peer
	// Listen opens an address that the loop may dial. accept waits for the next link to it; the
	// peer takes nothing before its first Receive, beyond what the world buffers.
	Listen(t *testing.T) (addr string, accept func(*testing.T) Peer)
	// Nobody returns an address at which nobody listens.
	Nobody(t *testing.T) string
}

// Peer is the client's end of a connection.
type Peer interface {
	// Send sends a frame; the harness puts the length prefix in front.
	Send(t *testing.T, frame []byte)
	// Receive waits for the next frame and returns it without its prefix; ok is false when the
	// connection has ended.
	Receive(t *testing.T) (frame []byte, ok bool)
	Close()
}

// Run checks every law against worlds that open makes, each with one empty data directory.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	laws := []struct {
		name  string
		check func(*testing.T, Harness)
	}{
		{"EffectsOnOneFileAreInOrder", effectsOnOneFileAreInOrder},
		{"AdjacentWritesAreReportedOneByOne", adjacentWritesAreReportedOneByOne},
		{"AFailureFencesItsFileAlone", aFailureFencesItsFileAlone},
		{"AnUnwantedCompletionIsNotReported", anUnwantedCompletionIsNotReported},
		{"ARemovedFileStaysReadableForItsLease", aRemovedFileStaysReadableForItsLease},
		{"ResponsesLeaveInSlotOrder", responsesLeaveInSlotOrder},
		{"RangesStandWhereTheHeadSays", rangesStandWhereTheHeadSays},
		{"ACopyIsOfTheBytesThatWereThere", aCopyIsOfTheBytesThatWereThere},
		{"OtherKeysWaitForEarlierSlots", otherKeysWaitForEarlierSlots},
		{"ACloseLetsAnswersLeaveFirst", aCloseLetsAnswersLeaveFirst},
		{"AMalformedFrameEndsOnlyItsConnection", aMalformedFrameEndsOnlyItsConnection},
		{"NothingFollowsTheEndOfAConnection", nothingFollowsTheEndOfAConnection},
		{"RequestsLeaveInOrderAndAnswersFindTheirSlots", requestsLeaveInOrderAndAnswersFindTheirSlots},
		{"LinksDoNotMix", linksDoNotMix},
		{"ARefusedDialIsOnlyToldAsEnded", aRefusedDialIsOnlyToldAsEnded},
		{"TheEndOfALinkIsItsLastEvent", theEndOfALinkIsItsLastEvent},
		{"AClosedLinkEndsAtOnce", aClosedLinkEndsAtOnce},
		{"ALinkGivenUpWhileItIsDialledEndsOnce", aLinkGivenUpWhileItIsDialledEndsOnce},
		{"ALinkEndsWhenItsPeerTalksNonsense", aLinkEndsWhenItsPeerTalksNonsense},
		{"APeerThatTakesNothingIsGivenUp", aPeerThatTakesNothingIsGivenUp},
		{"AJobReportsItsResult", aJobReportsItsResult},
		{"AWakeUpComes", aWakeUpComes},
	}
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) { law.check(t, open(t)) })
	}
}

// Patience bounds how long a production harness waits for an event that must come.
const Patience = 20 * time.Second

// next waits for an event of the given kind and fails on any other.
func next(t *testing.T, h Harness, kind env.EventKind) env.Event {
	t.Helper()
	ev := h.Next(t)
	if ev.Kind != kind {
		t.Fatalf("event kind %d came where %d was due: %+v", ev.Kind, kind, ev)
	}
	return ev
}

// done waits for a FileDone event with this token and outcome.
func done(t *testing.T, h Harness, token env.Token, err env.Errno) env.Event {
	t.Helper()
	ev := next(t, h, env.EventFileDone)
	if ev.Token != token || ev.Err != err {
		t.Fatalf("token %d done with %v, want token %d with %v", ev.Token, ev.Err, token, err)
	}
	return ev
}

// effects collects what one turn emits.
type effects struct{ env.Effects }

func newEffects() *effects {
	e := &effects{}
	e.Reset()
	return e
}

func (e *effects) file(op env.FileOp) { e.File = append(e.File, op) }

func (e *effects) write(f env.FileID, off int64, data string, token env.Token) {
	start := e.Mark()
	e.Bytes = append(e.Bytes, data...)
	e.file(env.FileOp{
		Op: env.FileWrite, File: f, Off: off, N: int64(len(data)),
		Inline: e.SpanFrom(start), Token: token,
	})
}

func (e *effects) respond(c env.ConnID, s env.Slot, head string, token env.Token, ranges ...env.Range) {
	start := e.Mark()
	e.Bytes = append(e.Bytes, head...)
	first := uint32(len(e.Ranges))
	e.Ranges = append(e.Ranges, ranges...)
	e.Conn = append(e.Conn, env.ConnOp{
		Op: env.ConnRespond, Conn: c, Slot: s, Head: e.SpanFrom(start), Token: token,
		Ranges: env.Span{Start: first, End: uint32(len(e.Ranges))},
	})
}

// content reads a whole file of data directory 0.
func content(t *testing.T, h Harness, name string) string {
	t.Helper()
	f, err := h.Disk().Open(env.Path{Name: name}, env.OpenRead)
	if err != env.OK {
		t.Fatalf("open %s: %v", name, err)
	}
	size, _ := f.Size()
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err != env.OK || n != len(b) {
		t.Fatalf("read %s: %d of %d bytes, %v", name, n, size, err)
	}
	f.Close()
	return string(b)
}
