package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"stet/sim"
)

// parseFault reads "<anchor>: <action>".
func parseFault(words []string) (f Fault, err error) {
	at := -1
	for i, word := range words {
		if strings.HasSuffix(word, ":") {
			at = i
			break
		}
	}
	if at < 0 || at+1 >= len(words) {
		return f, errors.New("fault: give WHEN: WHAT, as n1 sync 2 of orders-0/x.log: eio")
	}
	when := append([]string(nil), words[:at+1]...)
	when[at] = strings.TrimSuffix(when[at], ":")
	if f.At, err = parseAnchor(when); err != nil {
		return f, err
	}
	if f.Do, err = parseAction(words[at+1:]); err != nil {
		return f, err
	}
	if f.At.Call != nil && f.Do.Node == 0 {
		f.Do.Node = f.At.Call.Place
	}
	return f, f.fits()
}

func parseAnchor(w []string) (a Anchor, err error) {
	text := strings.Join(w, " ")
	bad := fmt.Errorf("%q: when is pN.SEND or oN.OPERATION [try N] +DELAY, or start|work +DELAY, or "+
		"nN CALL ORDINAL of PATH, or FROM->TO KEY request|response ORDINAL", text)
	switch {
	case strings.Contains(w[0], "->"):
		return parseFrame(w, bad)
	case len(w) == 5 && w[3] == "of":
		c := Call{Path: w[4]}
		kind, known := callKind(w[1])
		var err2 error
		c.Place, err = parsePlace(w[0])
		c.Ordinal, err2 = strconv.Atoi(w[2])
		if c.Kind = kind; !known || err != nil || err2 != nil || c.Ordinal < 1 {
			return a, bad
		}
		return Anchor{Call: &c}, nil
	case len(w) == 2 && Moment(w[0]).known():
		return parseMoment(w, bad)
	case len(w) == 2 || len(w) == 4 && w[1] == "try":
		r := Request{Try: 1, Operator: w[0][0] == 'o'}
		producer, send, _ := strings.Cut(strings.TrimLeft(w[0][:1], "po")+w[0][1:], ".")
		var err1, err2, err3 error
		r.Producer, err1 = strconv.Atoi(producer)
		r.Send, err2 = strconv.Atoi(send)
		if len(w) == 4 {
			r.Try, err3 = strconv.Atoi(w[2])
		}
		delay := w[len(w)-1]
		a.Delay, err = parseSpan(strings.TrimPrefix(delay, "+"))
		if errors.Join(err, err1, err2, err3) != nil || delay[0] != '+' || a.Delay < 0 || r.Try < 1 {
			return a, bad
		}
		a.Request = &r
		return a, nil
	}
	return a, bad
}

func parseFrame(w []string, bad error) (a Anchor, err error) {
	if len(w) != 4 || w[2] != "request" && w[2] != "response" {
		return a, bad
	}
	f := Frame{Response: w[2] == "response"}
	from, to, _ := strings.Cut(w[0], "->")
	var err2, err3 error
	f.From, err = parsePlace(from)
	f.To, err2 = parsePlace(to)
	f.Ordinal, err3 = strconv.Atoi(w[3])
	key, known := apiKey(w[1])
	if f.Key = key; !known || errors.Join(err, err2, err3) != nil || f.Ordinal < 1 {
		return a, bad
	}
	return Anchor{Frame: &f}, nil
}

func callKind(word string) (sim.DiskOpKind, bool) {
	for k := sim.DiskOpen; k <= sim.DiskSyncDir; k++ {
		if callWord(k) == word {
			return k, true
		}
	}
	return 0, false
}

func apiKey(name string) (int16, bool) {
	if key, err := strconv.ParseInt(name, 10, 16); err == nil && keyName(int16(key)) == name {
		return int16(key), true
	}
	for key := int16(-1); key < 200; key++ {
		if n := keyName(key); n == name && n != "Unknown" {
			return key, true
		}
	}
	return 0, false
}

// parsePlace reads n1 or c0.
func parsePlace(text string) (sim.Place, error) {
	if len(text) > 1 && (text[0] == 'n' || text[0] == 'c') {
		n, err := strconv.ParseUint(text[1:], 10, 20)
		switch {
		case err != nil:
		case text[0] == 'c':
			return sim.ClientPlace + sim.Place(n), nil
		case n > 0 && sim.Place(n) < sim.ClientPlace:
			return sim.Place(n), nil
		}
	}
	return 0, fmt.Errorf("%q: a place is n1, n2, … or c0, c1, …", text)
}

// parseAction reads a verb and what belongs to it.
func parseAction(w []string) (a Action, err error) {
	a.Verb = Verb(w[0])
	if !a.Verb.known() {
		return a, fmt.Errorf("%q: what happens is one of %v", w[0], verbs)
	}
	for _, word := range w[1:] {
		if err := a.word(word); err != nil {
			return a, fmt.Errorf("%s: %w", w[0], err)
		}
	}
	return a, nil
}

// word reads one word behind a verb: name=value, a place, two places, or a time.
func (a *Action) word(word string) (err error) {
	name, value, named := strings.Cut(word, "=")
	switch {
	case named && name == "bytes":
		if a.Bytes, err = strconv.ParseInt(value, 10, 64); err != nil {
			return fmt.Errorf("%s: give a number", word)
		}
	case named && name == "down":
		a.Down, err = parseSpan(value)
	case named && name == "by":
		a.By, err = parseSpan(value)
	case named && name == "for":
		a.Span, err = parseSpan(value)
	case named:
		return fmt.Errorf("%s: there are bytes, down, by and for", name)
	case strings.Contains(word, "->"):
		from, to, _ := strings.Cut(word, "->")
		a.Both = strings.HasSuffix(from, "<")
		if a.Node, err = parsePlace(strings.TrimSuffix(from, "<")); err == nil {
			a.Client, err = parsePlace(to)
		}
	default:
		if a.Span, err = parseSpan(word); err != nil {
			var p sim.Place
			if p, err = parsePlace(word); p >= sim.ClientPlace {
				a.Client = p
			} else {
				a.Node = p
			}
		}
	}
	return err
}

var verbs = []Verb{
	Kill, Power, EIO, Short, Full, Slow, Flip, Latent, Misplace, Hold, Cut, Vanish, Reset, Stall,
	Clock, Pause, SlowDisk, Stop, Wipe,
}

func (v Verb) known() bool {
	for _, verb := range verbs {
		if v == verb {
			return true
		}
	}
	return false
}

// fits says whether the action can come at its anchor.
func (f *Fault) fits() error {
	frame := f.Do.Verb == Hold || f.Do.Verb == Cut || f.Do.Verb == Vanish
	call := false
	switch f.Do.Verb {
	case EIO, Short, Full, Slow, Flip, Latent, Misplace, Kill, Power:
		call = true
	}
	switch {
	case f.At.Frame != nil && !frame, f.At.Frame == nil && frame:
		return fmt.Errorf("%s: hold, cut and vanish are for frames, and nothing else is", f.Do.Verb)
	case f.At.Call != nil && !call:
		return fmt.Errorf("%s: can not come at a call of a disk", f.Do.Verb)
	case (f.At.Request != nil || f.At.Since != "") && call && !f.Do.crash():
		return fmt.Errorf("%s: comes at a call of a disk", f.Do.Verb)
	case f.Do.Down < 0 || f.Do.By < 0 || f.Do.Span < 0 && f.Do.Verb != Clock || f.Do.Bytes < 0 && f.Do.Verb != Misplace:
		return fmt.Errorf("%s: a time or size is below zero", f.Do.Verb)
	}
	node, client := f.Do.Node != 0, f.Do.Client != 0
	switch f.Do.Verb {
	case Kill, Power, Clock, Pause, SlowDisk, Stop, Wipe:
		if !node {
			return fmt.Errorf("%s: say whom it hits, as %s n1", f.Do.Verb, f.Do.Verb)
		}
	case Reset:
		if !client {
			return errors.New("reset: say whose connection, as reset c1")
		}
	case Stall:
		if !node || !client {
			return errors.New("stall: say between whom and for how long, as stall n1<->c1 5ms")
		}
	}
	return nil
}

// parseKeep reads what a power loss leaves: "names 2 of "create x"", or "file NAME size=N PAGE:FATE…".
func parseKeep(r *sim.Remains, w []string) error {
	switch {
	case w[0] == "names" && len(w) > 3 && w[2] == "of":
		kept, err := strconv.Atoi(w[1])
		first, err2 := strconv.Unquote(strings.Join(w[3:], " "))
		if errors.Join(err, err2) != nil {
			return fmt.Errorf("keep names: give COUNT of \"FIRST CHANGE\"")
		}
		r.Names = append(r.Names, sim.NamesKept{First: first, Kept: kept})
		return nil
	case w[0] == "file" && len(w) > 2 && strings.HasPrefix(w[2], "size="):
		size, err := strconv.ParseInt(w[2][len("size="):], 10, 64)
		if err != nil {
			return fmt.Errorf("keep file: %q: give size=BYTES", w[2])
		}
		file := sim.FileKept{Name: w[1], Size: size}
		for _, word := range w[3:] {
			index, fate, _ := strings.Cut(word, ":")
			n, err := strconv.Atoi(index)
			page, err2 := sim.ParsePageFate(fate)
			if errors.Join(err, err2) != nil {
				return fmt.Errorf("keep file: page %q: give INDEX:FATE, a fate is n, or a letter o, n or g a sector", word)
			}
			file.Pages = append(file.Pages, sim.PageKept{Index: n, Fate: page})
		}
		r.Files = append(r.Files, file)
		return nil
	}
	return errors.New("keep: give names COUNT of \"FIRST CHANGE\", or file NAME size=BYTES PAGE:FATE…")
}
