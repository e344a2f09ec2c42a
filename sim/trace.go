package sim

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"runtime"
	"strconv"

	"stet/sim/digest"
)

// Trace chains a hash over everything that happens in a run, and writes lines of JSON when it has
// a writer. The hash is the same with and without one.
//
// Every event of the scheduler and every record counts with its time, place, kind and content and
// with the cursors of all streams. Lines are {"i":event,"t":nanoseconds,"node":…,"kind":…, …,
// "h":16 hex digits}; the first holds the header, the last the final hash.
type Trace struct {
	hash    digest.Hash
	entropy *Entropy
	now     Time
	events  uint64
	records uint64
	out     io.Writer
	verbose bool
	line    []byte
	err     error
}

// Header is the first line of a trace.
type Header struct {
	Stet     string `json:"stet"`
	Commit   string `json:"commit"`
	Go       string `json:"go"`
	Arch     string `json:"arch"`
	Scenario string `json:"scenario"`
	Seed     string `json:"seed"`
}

// NewTrace returns a trace without a writer. entropy may be nil.
func NewTrace(entropy *Entropy) *Trace { return &Trace{entropy: entropy} }

// WriteTo has lines written to w from here on: records of what has an effect, and with verbose
// every event and payload. Go and Arch of the header are filled in here and are no part of the
// hash.
func (t *Trace) WriteTo(w io.Writer, h Header, verbose bool) {
	t.out, t.verbose = w, verbose
	h.Go, h.Arch = runtime.Version(), runtime.GOARCH
	text, err := json.Marshal(h)
	t.err = err
	t.write(append(text, '\n'))
}

// event chains an event of the scheduler.
func (t *Trace) event(at Time, p Place, k Kind) {
	t.now = at
	t.events++
	t.hash.Word(uint64(at))
	t.hash.Word(uint64(k))
	t.hash.Word(uint64(p) ^ t.cursors())
	if t.out != nil && t.verbose {
		t.begin(p, k)
		t.end()
	}
}

func (t *Trace) cursors() uint64 {
	if t.entropy == nil {
		return 0
	}
	return t.entropy.Fold()
}

// Record is something that happened inside an event.
type Record struct {
	Place   Place
	Kind    Kind
	What    string // an operation or a name
	Detail  string
	A, B, C int64
	Payload []byte // hashed in full; written only when verbose
}

// Record chains a record. Its bytes are the caller's again.
func (t *Trace) Record(r Record) {
	t.records++
	t.hash.Word(uint64(r.Place)<<8 | uint64(r.Kind))
	t.hash.Text(r.What)
	t.hash.Text(r.Detail)
	t.hash.Int(r.A)
	t.hash.Int(r.B)
	t.hash.Int(r.C)
	t.hash.Bytes(r.Payload)
	t.hash.Word(t.cursors())
	if t.out != nil {
		t.writeRecord(&r)
	}
}

func (t *Trace) writeRecord(r *Record) {
	t.begin(r.Place, r.Kind)
	t.text("what", r.What)
	t.text("detail", r.Detail)
	t.number("a", r.A)
	t.number("b", r.B)
	t.number("c", r.C)
	if t.verbose && len(r.Payload) > 0 {
		t.text("payload", hex.EncodeToString(r.Payload))
	}
	t.end()
}

// Digest chains the digest of a state under a name.
func (t *Trace) Digest(p Place, name string, sum digest.Sum) {
	t.hash.Add(sum)
	t.Record(Record{Place: p, Kind: KindDigest, What: name, Detail: sum.String()})
}

// Sum returns the hash so far: 32 hexadecimal digits when printed.
func (t *Trace) Sum() digest.Sum { return t.hash.Sum() }

// RecordCount returns how many records were chained.
func (t *Trace) RecordCount() uint64 { return t.records }

// Finish chains the final cursors, writes the last line, and returns the final hash and the first
// error of the writer.
func (t *Trace) Finish() (digest.Sum, error) {
	if t.entropy != nil {
		for _, c := range t.entropy.Cursors() {
			t.hash.Text(c.Name)
			t.hash.Word(c.Draws)
		}
	}
	sum := t.hash.Sum()
	if t.out != nil {
		t.write([]byte(`{"hash":"` + sum.String() + "\"}\n"))
	}
	return sum, t.err
}

func (t *Trace) begin(p Place, k Kind) {
	t.line = append(t.line[:0], `{"i":`...)
	t.line = strconv.AppendUint(t.line, t.events, 10)
	t.line = append(t.line, `,"t":`...)
	t.line = strconv.AppendInt(t.line, int64(t.now), 10)
	t.text("node", p.String())
	t.text("kind", k.String())
}

func (t *Trace) text(key, value string) {
	if value == "" {
		return
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		t.err = err
	}
	t.line = append(append(append(t.line, `,"`...), key...), `":`...)
	t.line = append(t.line, quoted...)
}

func (t *Trace) number(key string, value int64) {
	if value == 0 {
		return
	}
	t.line = append(append(append(t.line, `,"`...), key...), `":`...)
	t.line = strconv.AppendInt(t.line, value, 10)
}

func (t *Trace) end() {
	t.line = append(t.line, `,"h":"`...)
	const digits = "0123456789abcdef"
	for h, i := t.hash.Short(), 60; i >= 0; i -= 4 {
		t.line = append(t.line, digits[h>>i&15])
	}
	t.line = append(t.line, "\"}\n"...)
	t.write(t.line)
}

func (t *Trace) write(line []byte) {
	if _, err := t.out.Write(line); err != nil && t.err == nil {
		t.err = err
	}
}
