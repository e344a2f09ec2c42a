package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Divergence is the first line in which two traces of one seed differ.
type Divergence struct {
	Line   int      // from 1, the header
	Before []string // the last lines that are the same in both
	A, B   string   // the lines, empty behind the end of a trace
}

// DivergenceContext is how many lines before it a Divergence has at most.
const DivergenceContext = 8

// String tells where and when the traces part, what came before, both sides, and in which of
// their fields they differ.
func (d Divergence) String() string {
	a, b := parseLine(d.A), parseLine(d.B)
	for a.from < min(len(a.Payload), len(b.Payload)) && a.Payload[a.from] == b.Payload[a.from] {
		a.from++
	}
	a.from &^= 1 // whole bytes, of two digits
	b.from = a.from
	at := a
	if !at.parsed {
		at = b
	}
	var text strings.Builder
	fmt.Fprintf(&text, "line %d, event %d at %v on %s, in %s:\n", d.Line, at.Event, at.At, at.Node,
		strings.Join(differences(&a, &b), ", "))
	for _, line := range d.Before {
		fmt.Fprintf(&text, "       %s\n", parseLine(line))
	}
	fmt.Fprintf(&text, "first  %s\nsecond %s", a, b)
	return text.String()
}

// traceLine is a line of a trace, but for the header and the last one, which do not parse.
type traceLine struct {
	Event        uint64 `json:"i"`
	At           Time   `json:"t"`
	Node, Kind   string
	What, Detail string
	A, B, C      int64
	Payload      string
	Hash         string `json:"h"`
	parsed       bool
	from         int // the digit of the payload from which on it is shown
	text         string
}

func parseLine(text string) traceLine {
	l := traceLine{text: text}
	l.parsed = json.Unmarshal([]byte(text), &l) == nil && l.Hash != ""
	if !l.parsed {
		l.Node = "nobody"
	}
	return l
}

// maxShown bounds what is shown of a payload.
const maxShown = 64

// String shortens a line for a reader.
func (l traceLine) String() string {
	if !l.parsed {
		if l.text == "" {
			return "(the trace has ended)"
		}
		return l.text
	}
	var text strings.Builder
	fmt.Fprintf(&text, "event %d at %v on %s: %s", l.Event, l.At, l.Node, l.Kind)
	for _, part := range []string{l.What, l.Detail} {
		if part != "" {
			fmt.Fprintf(&text, " %s", part)
		}
	}
	if l.A != 0 || l.B != 0 || l.C != 0 {
		fmt.Fprintf(&text, " [%d %d %d]", l.A, l.B, l.C)
	}
	if l.Payload != "" {
		rest := l.Payload[l.from:]
		fmt.Fprintf(&text, " %d bytes, from %d: %s", len(l.Payload)/2, l.from/2,
			rest[:min(maxShown, len(rest))])
	}
	fmt.Fprintf(&text, " #%s", l.Hash)
	return text.String()
}

// differences names the fields in which two lines differ. If it is the hash alone, then what the
// event was told, what it drew or what the node holds differs, of which lines show nothing.
func differences(a, b *traceLine) (names []string) {
	if !a.parsed || !b.parsed {
		return []string{"the whole line"}
	}
	for _, f := range []struct {
		name string
		same bool
	}{
		{"number", a.Event == b.Event},
		{"time", a.At == b.At},
		{"node", a.Node == b.Node},
		{"kind", a.Kind == b.Kind},
		{"operation", a.What == b.What},
		{"detail", a.Detail == b.Detail},
		{"numbers", a.A == b.A && a.B == b.B && a.C == b.C},
		{"payload", a.Payload == b.Payload},
	} {
		if !f.same {
			names = append(names, f.name)
		}
	}
	if names == nil {
		return []string{"the hash alone"}
	}
	return names
}

// FirstDivergence compares two traces line by line, but for their headers, and says whether they
// differ.
func FirstDivergence(a, b io.Reader) (d Divergence, differ bool, err error) {
	x, y := bufio.NewReader(a), bufio.NewReader(b)
	var before []string
	for line := 1; ; line++ {
		p, errP := x.ReadBytes('\n')
		q, errQ := y.ReadBytes('\n')
		for _, err := range []error{errP, errQ} {
			if err != nil && !errors.Is(err, io.EOF) {
				return d, false, fmt.Errorf("trace, line %d: %w", line, err)
			}
		}
		trim := func(s []byte) string { return string(bytes.TrimSuffix(s, []byte("\n"))) }
		if line > 1 && !bytes.Equal(p, q) {
			return Divergence{line, before, trim(p), trim(q)}, true, nil
		}
		if errP != nil && errQ != nil {
			return d, false, nil
		}
		if line > 1 {
			before = append(before[max(0, len(before)-DivergenceContext+1):], trim(p))
		}
	}
}
