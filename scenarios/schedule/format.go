package schedule

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"stet/sim"
)

// magic is the first line of a schedule: "stet schedule", and the version of the format.
const magic = "stet schedule 1"

// Format writes the schedule as text. Parse reads it back.
func (s *Schedule) Format(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, magic)
	for _, line := range s.header() {
		fmt.Fprintln(b, line)
	}
	fmt.Fprintf(b, "\ntopic%s\n", describe(&s.Topic, nil))
	fmt.Fprintf(b, "clients%s\n", describe(&s.Clients, nil))
	fmt.Fprintf(b, "end%s\n", describe(&s.End, nil))
	world, node := BaseWorld(), BaseNode()
	for _, setting := range strings.Fields(describe(&s.World, &world)) {
		fmt.Fprintln(b, "world", setting)
	}
	for _, setting := range strings.Fields(describe(&s.Node, &node)) {
		fmt.Fprintln(b, "node", setting)
	}
	for i := range s.Producers {
		p := &s.Producers[i]
		fmt.Fprintf(b, "\nproducer p%d%s\n", p.ID, describe(&p.ProducerConfig, nil))
		for j := range p.Sends {
			fmt.Fprintf(b, "  send %s\n", p.Sends[j].text())
		}
	}
	if len(s.Consumers)+len(s.Listers) > 0 {
		fmt.Fprintln(b)
	}
	for i := range s.Consumers {
		fmt.Fprintf(b, "consumer c%d%s\n", s.Consumers[i].ID, describe(&s.Consumers[i].ConsumerConfig, nil))
	}
	for _, l := range s.Listers {
		fmt.Fprintf(b, "lister c%d\n", l.ID)
	}
	s.writeCluster(b)
	if len(s.Faults) > 0 {
		fmt.Fprintln(b)
	}
	for i := range s.Faults {
		writeFault(b, &s.Faults[i])
	}
	if len(s.Tapes) > 0 {
		fmt.Fprintln(b)
	}
	for _, t := range s.Tapes {
		writeTape(b, t)
	}
	return b.Flush()
}

// String is the text of Format.
func (s *Schedule) String() string {
	var b strings.Builder
	_ = s.Format(&b) // a Builder does not fail
	return b.String()
}

// header gives the lines of the header that are known.
func (s *Schedule) header() (lines []string) {
	for _, f := range s.Header.fields() {
		if text := f.get(); text != "" {
			lines = append(lines, f.name+" "+text)
		}
	}
	return lines
}

// headerField is one line of a header.
type headerField struct {
	name string
	get  func() string
	set  func(string) error
}

func (h *Header) fields() []headerField {
	text := func(name string, p *string) headerField {
		return headerField{name, func() string { return *p }, func(v string) error {
			*p = v
			return nil
		}}
	}
	return []headerField{
		text("scenario", &h.Scenario),
		{"seed", func() string { return fmt.Sprintf("%#x", h.Seed) }, func(v string) (err error) {
			if h.Seed, err = strconv.ParseUint(v, 0, 64); err != nil {
				err = fmt.Errorf("seed %q: give 64 bits, decimal or 0x", v)
			}
			return err
		}},
		text("commit", &h.Commit), text("toolchain", &h.Toolchain), text("hash", &h.Hash),
		text("fails", &h.Fails), text("canaries", &h.Canaries),
	}
}

// text gives "14 to 2 +3ms 40@-12 92@7#1": records are sizes and, behind @, milliseconds, and behind
// # the number of their key.
func (s *Send) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d to %d +%s", s.Number, s.Partition, span(s.After))
	for _, r := range s.Records {
		fmt.Fprintf(&b, " %d@%d", r.Bytes, r.Stamp)
		if r.Key != 0 {
			fmt.Fprintf(&b, "#%d", r.Key)
		}
	}
	return b.String()
}

func writeFault(w io.Writer, f *Fault) {
	fmt.Fprintln(w, "fault", f.String())
	for _, n := range f.Do.Remains.Names {
		fmt.Fprintf(w, "  keep names %d of %q\n", n.Kept, n.First)
	}
	for _, file := range f.Do.Remains.Files {
		fmt.Fprintf(w, "  keep file %s size=%d", file.Name, file.Size)
		for _, p := range file.Pages {
			fmt.Fprintf(w, " %d:%s", p.Index, p.Fate)
		}
		fmt.Fprintln(w)
	}
}

// tapeWidth is how many values stand on a line of a tape.
const tapeWidth = 20

// writeTape writes "tape <stream>" and lines of values; n*v stands for n times v.
func writeTape(w io.Writer, t sim.Tape) {
	fmt.Fprintf(w, "tape %s\n", t.Stream)
	on := 0
	for i := 0; i < len(t.Values); {
		n := 1
		for i+n < len(t.Values) && t.Values[i+n] == t.Values[i] {
			n++
		}
		if on == 0 {
			fmt.Fprint(w, " ")
		}
		if n > 1 {
			fmt.Fprintf(w, " %d*%d", n, t.Values[i])
		} else {
			fmt.Fprintf(w, " %d", t.Values[i])
		}
		i += n
		if on++; on == tapeWidth || i == len(t.Values) {
			fmt.Fprintln(w)
			on = 0
		}
	}
}
