package schedule

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/sim"
)

// Fault is one fault: when it comes, told by what happens then, and what it is.
type Fault struct {
	At Anchor
	Do Action
}

// Anchor says when a fault comes. Exactly one of the first four is set.
type Anchor struct {
	Request *Request
	Call    *Call
	Frame   *Frame
	Since   Moment
	Delay   sim.Time // after the request was started, or since the moment
}

// Request is the how-manieth try, from 1, of a send of a producer, or of an operation of an operator.
type Request struct {
	Producer, Send, Try int
	Operator            bool // Producer and Send are of an operator
}

// Call is the how-manieth call of a kind on a path, from 1, over all lives of a node.
type Call struct {
	Place   sim.Place
	Kind    sim.DiskOpKind
	Ordinal int
	Path    string // within data directory 0
}

// Frame is the how-manieth request of an API key from one place to another, or response to one.
type Frame struct {
	From, To sim.Place
	Response bool
	Key      int16
	Ordinal  int
}

// Verb names what a fault does.
type Verb string

// Verbs of faults. Those from EIO to Misdirect and KillDuring are only for calls of a disk, Hold,
// Cut and Vanish only for frames, the others for requests.
const (
	Kill     Verb = "kill"  // the process dies; at a call, in the middle of it
	Power    Verb = "power" // the machine loses power; at a call, in the middle of it
	EIO      Verb = "eio"
	Short    Verb = "short"
	Full     Verb = "full"
	Slow     Verb = "slow"
	Flip     Verb = "flip"
	Latent   Verb = "latent"
	Misplace Verb = "misplace"
	Hold     Verb = "hold"
	Cut      Verb = "cut"    // the connection is reset, the frame is lost
	Vanish   Verb = "vanish" // the connection leads nowhere from here on, in silence
	Reset    Verb = "reset"  // of a client's newest connection
	Stall    Verb = "stall"
	Clock    Verb = "clock" // a step of the wall clock
	Pause    Verb = "pause"
	SlowDisk Verb = "slow-disk"
	Stop     Verb = "stop" // a clean stop, and a start afterwards
	Wipe     Verb = "wipe" // the process dies, and its data directory is gone
)

// Action is what a fault does. Fields that a verb does not use are zero.
type Action struct {
	Verb    Verb
	Node    sim.Place // the machine; of a fault at a call, its place
	Client  sim.Place // of Reset and Stall, which may be another machine
	Bytes   int64     // of EIO, Short, Full, Flip, Latent and Misplace
	Span    sim.Time  // how long; of Clock the step
	By      sim.Time  // of SlowDisk: what each call takes longer
	Both    bool      // a Stall of both directions
	Down    sim.Time  // from a death to the restart
	Remains sim.Remains
}

// crash says whether the action is a death.
func (a *Action) crash() bool { return a.Verb == Kill || a.Verb == Power }

// String gives the line of text of the fault, without what a power loss leaves.
func (f *Fault) String() string { return f.At.String() + ": " + f.Do.String() }

// String gives "p1.14 +2ms", "n1 sync 2 of orders-0/….log" or "n1->c1 Fetch response 3".
func (a *Anchor) String() string {
	switch {
	case a.Request != nil:
		text := fmt.Sprintf("p%d.%d", a.Request.Producer, a.Request.Send)
		if a.Request.Operator {
			text = "o" + text[1:]
		}
		if a.Request.Try > 1 {
			text += fmt.Sprintf(" try %d", a.Request.Try)
		}
		return text + " +" + span(a.Delay)
	case a.Call != nil:
		return fmt.Sprintf("%s %s %d of %s", a.Call.Place, callWord(a.Call.Kind), a.Call.Ordinal, a.Call.Path)
	case a.Since != "":
		return string(a.Since) + " +" + span(a.Delay)
	}
	what := "request"
	if a.Frame.Response {
		what = "response"
	}
	return fmt.Sprintf("%s->%s %s %s %d", a.Frame.From, a.Frame.To, keyName(a.Frame.Key), what,
		a.Frame.Ordinal)
}

// String gives "power n1 down=5ms" and the like.
func (a *Action) String() string {
	text := string(a.Verb)
	switch a.Verb {
	case Kill, Power, Stop, Wipe:
		text += " " + a.Node.String() + " down=" + span(a.Down)
	case EIO, Short, Full, Flip, Latent, Misplace:
		if a.Bytes != 0 {
			text += fmt.Sprintf(" bytes=%d", a.Bytes)
		}
	case Slow, Hold:
		text += " " + span(a.Span)
	case Reset:
		if a.Node != 0 {
			return text + " " + a.arrow()
		}
		text += " " + a.Client.String()
	case Stall:
		text += " " + a.arrow() + " " + span(a.Span)
	case Clock, Pause:
		text += " " + a.Node.String() + " " + span(a.Span)
	case SlowDisk:
		text += " " + a.Node.String() + " by=" + span(a.By) + " for=" + span(a.Span)
	}
	return text
}

// callWord is the name of a kind of call without a space.
func callWord(k sim.DiskOpKind) string { return strings.ReplaceAll(k.String(), " ", "-") }

// keyName names an API key; "?" is a frame whose key nobody knows.
func keyName(key int16) string {
	if key < 0 {
		return "?"
	}
	if name := kmsg.NameForKey(key); name != "Unknown" {
		return name
	}
	return strconv.Itoa(int(key)) // Stet's own
}

func span(t sim.Time) string { return t.Duration().String() }
