package story

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"stet/core/env"
	"stet/scenarios"
	"stet/scenarios/schedule"
	"stet/sim"
)

// Tell writes the page of a run of s with this result and this trace, which was verbose. The trace
// may end where the check failed.
func Tell(w io.Writer, s *schedule.Schedule, r *scenarios.Result, trace io.Reader) error {
	t := newTeller(s)
	in := bufio.NewScanner(trace)
	in.Buffer(make([]byte, 0, 64<<10), 64<<20)
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			return fmt.Errorf("trace: %w", err)
		}
		if err := t.take(&e); err != nil {
			return fmt.Errorf("trace: event %d: %w", e.Event, err)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	out := bufio.NewWriter(w)
	head(out, s, r)
	fmt.Fprintln(out)
	printLines(out, t.lines)
	fmt.Fprintln(out)
	verdict(out, r, t.now)
	return out.Flush()
}

// event is a line of a trace, as sim.Trace writes it.
type event struct {
	Event   int64    `json:"i"`
	At      sim.Time `json:"t"`
	Node    string   `json:"node"`
	Kind    string   `json:"kind"`
	What    string   `json:"what"`
	Detail  string   `json:"detail"`
	A       int64    `json:"a"`
	B       int64    `json:"b"`
	C       int64    `json:"c"`
	Payload string   `json:"payload"`
}

// line is a sentence of the story. Those of greater weight are left out last.
type line struct {
	at     sim.Time
	weight int
	text   string
}

// Weights of lines.
const (
	always  = 9 // faults, deaths, starts
	trouble = 7 // errors that clients see, truncations
	sending = 5
	reading = 4
	syncing = 3
	writing = 2
	aside   = 1
)

// teller turns events into lines.
type teller struct {
	schedule *schedule.Schedule
	wire     *wire
	now      sim.Time
	lines    []line
}

func newTeller(s *schedule.Schedule) *teller {
	t := &teller{schedule: s}
	t.wire = newWire(s, t.say)
	return t
}

func (t *teller) say(weight int, format string, args ...any) {
	t.lines = append(t.lines, line{t.now, weight, fmt.Sprintf(format, args...)})
}

func (t *teller) take(e *event) error {
	if e.Kind == "" {
		return nil // the header or the end
	}
	t.now = e.At
	if e.What == "" {
		return nil // of the scheduler: what it leads to follows
	}
	switch e.Kind {
	case "fault":
		t.fault(e)
	case "crash":
		t.say(always, "%s dies: %s", e.Node, e.What)
	case "start":
		life := ""
		if e.A > 1 {
			life = fmt.Sprintf(", for the %s time", ordinal(e.A))
		}
		t.say(always, "%s starts%s", e.Node, life)
	case "note":
		t.note(e)
	case "disk":
		t.disk(e)
	case "open":
		t.wire.open(e.A, e.Detail)
	case "frame":
		payload, err := hex.DecodeString(e.Payload)
		if err != nil {
			return err
		}
		return t.wire.arrived(e.A, e.Node, payload)
	}
	return nil
}

func (t *teller) fault(e *event) {
	switch {
	case e.What == "heal all":
		t.say(always, "every send is answered: no faults from here on")
	case e.What == "clock reboot":
	case e.Detail == "":
		t.say(always, "FAULT: %s %s", e.Node, e.What)
	default:
		t.say(always, "FAULT: %s", short(e.Detail))
	}
}

func (t *teller) note(e *event) {
	switch {
	case e.What == "log" && strings.Contains(e.Detail, "leads"):
	case e.What == "log":
		t.say(trouble, "%s says: %s", e.Node, e.Detail)
	case e.What == "status" && !strings.HasSuffix(e.Detail, "fatal <nil>"):
		_, why, _ := strings.Cut(e.Detail, "fatal ")
		t.say(always, "%s gives up: %s", e.Node, why)
	case e.What == "status" && strings.Contains(e.Detail, "ready true"):
		t.say(syncing, "%s is ready", e.Node)
	}
}

// disk tells of logs, and of recoveries.
func (t *teller) disk(e *event) {
	if e.What == "create" && strings.HasSuffix(e.Detail, "/recovery.tmp") {
		t.say(syncing, "%s recovers %s", e.Node, strings.TrimSuffix(e.Detail, "/recovery.tmp"))
		return
	}
	if err := env.Errno(e.C); err != env.OK {
		weight := trouble
		if err == env.ENOENT || err == env.EEXIST {
			weight = aside // it only looks
		}
		t.say(weight, "%s: %s of %s fails: %s", e.Node, e.What, short(e.Detail), err)
		return
	}
	if !strings.HasSuffix(e.Detail, ".log") {
		return
	}
	name := short(e.Detail)
	switch e.What {
	case "write":
		t.say(writing, "%s writes bytes %d to %d of %s", e.Node, e.A, e.A+e.B, name)
	case "sync":
		t.say(syncing, "%s syncs %s", e.Node, name)
	case "truncate":
		t.say(trouble, "%s cuts %s to %d bytes", e.Node, name, e.A)
	case "create":
		t.say(syncing, "%s makes %s", e.Node, name)
	case "remove":
		t.say(syncing, "%s removes %s", e.Node, name)
	}
}

// short takes the zeros off the names of segments.
func short(path string) string {
	words := strings.Fields(path)
	for i, word := range words {
		at := strings.LastIndexByte(word, '/') + 1
		if digits := strings.TrimLeft(word[at:], "0"); len(word)-at > 20 && word[at] == '0' {
			if digits[0] == '.' {
				digits = "0" + digits
			}
			words[i] = word[:at] + digits
		}
	}
	return strings.Join(words, " ")
}

func ordinal(n int64) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}
