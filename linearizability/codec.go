package linearizability

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// FormatVersion is the version of the history file. A reader refuses any other.
const FormatVersion = 1

// line is one line of a history file: exactly one field is set. The first line is the head, the
// last is the end, whose counts show that nothing was cut off.
type line struct {
	Head     *head        `json:"history,omitempty"`
	Send     *Send        `json:"send,omitempty"`
	Poll     *Poll        `json:"poll,omitempty"`
	List     *ListOffsets `json:"list,omitempty"`
	Dump     *Dump        `json:"dump,omitempty"`
	Excuse   *Excuse      `json:"excuse,omitempty"`
	Deletion *Deletion    `json:"deletion,omitempty"`
	End      *end         `json:"end,omitempty"`
}

type head struct {
	Version    int             `json:"version"`
	Scenario   string          `json:"scenario,omitempty"`
	Seed       uint64          `json:"seed"`
	Partitions []PartitionInfo `json:"partitions,omitempty"`
}

type end struct {
	Lines int `json:"lines"` // all lines before this one
}

// Write writes the history as JSON lines. The same history gives the same bytes.
func Write(w io.Writer, h *History) error {
	buffered := bufio.NewWriter(w)
	out := lineWriter{encoder: json.NewEncoder(buffered)}
	out.put(line{Head: &head{FormatVersion, h.Scenario, h.Seed, h.Partitions}})
	for i := range h.Sends {
		out.put(line{Send: &h.Sends[i]})
	}
	for i := range h.Polls {
		out.put(line{Poll: &h.Polls[i]})
	}
	for i := range h.Lists {
		out.put(line{List: &h.Lists[i]})
	}
	for i := range h.Excuses {
		out.put(line{Excuse: &h.Excuses[i]})
	}
	for i := range h.Deletions {
		out.put(line{Deletion: &h.Deletions[i]})
	}
	for i := range h.Dumps {
		out.put(line{Dump: &h.Dumps[i]})
	}
	out.put(line{End: &end{out.lines}})
	return errors.Join(out.err, buffered.Flush())
}

type lineWriter struct {
	encoder *json.Encoder
	lines   int
	err     error
}

func (w *lineWriter) put(l line) {
	if w.err == nil {
		w.err = w.encoder.Encode(l)
		w.lines++
	}
}

// Read reads what Write wrote. It refuses a file of another version, with unknown fields, or
// without its end.
func Read(r io.Reader) (*History, error) {
	decoder := json.NewDecoder(bufio.NewReader(r))
	decoder.DisallowUnknownFields()
	h := &History{}
	for n := 0; ; n++ {
		var l line
		if err := decoder.Decode(&l); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("history line %d: %w", n+1, err)
		}
		if n == 0 && (l.Head == nil || l.Head.Version != FormatVersion) {
			return nil, fmt.Errorf("history line 1: not the head of a version %d file", FormatVersion)
		}
		if l.End != nil {
			if l.End.Lines != n {
				return nil, fmt.Errorf("history has %d lines, its end says %d", n, l.End.Lines)
			}
			return h, nil
		}
		if err := h.add(l); err != nil {
			return nil, fmt.Errorf("history line %d: %w", n+1, err)
		}
	}
}

func (h *History) add(l line) error {
	switch {
	case l.Head != nil:
		h.Scenario, h.Seed, h.Partitions = l.Head.Scenario, l.Head.Seed, l.Head.Partitions
	case l.Send != nil:
		h.Sends = append(h.Sends, *l.Send)
	case l.Poll != nil:
		h.Polls = append(h.Polls, *l.Poll)
	case l.List != nil:
		h.Lists = append(h.Lists, *l.List)
	case l.Dump != nil:
		h.Dumps = append(h.Dumps, *l.Dump)
	case l.Excuse != nil:
		h.Excuses = append(h.Excuses, *l.Excuse)
	case l.Deletion != nil:
		h.Deletions = append(h.Deletions, *l.Deletion)
	default:
		return errors.New("an empty line")
	}
	return nil
}
