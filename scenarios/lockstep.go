package scenarios

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"stet/sim"
)

// Lockstep is a writer of a trace for a run that goes in step with another run of the same seed, in
// another process. It keeps the lines of one window, and at its end tells the other side's judge
// (Locate) only their number and the chained hash, which stands for everything that came before.
// The run goes on when the judge says so; if the hashes differ, the window is shown. So two runs of
// any length are compared in the memory of a window, and in one pass: a run that is not
// deterministic can not be asked again.
//
//	-> at LINES HASH    after each window; end LINES HASH after the last
//	<- on               they agree
//	<- show             they do not
//	-> lines COUNT      those of the window, and some before; then the lines
type Lockstep struct {
	in     *bufio.Reader
	out    *bufio.Writer
	before [][]byte // the last lines of the window before
	window [][]byte
	lines  int
	err    error
}

// windowLines is the size of a window: some hundred kilobytes.
const windowLines = 4096

// NewLockstep returns a writer that tells out and listens to in.
func NewLockstep(in io.Reader, out io.Writer) *Lockstep {
	return &Lockstep{in: bufio.NewReader(in), out: bufio.NewWriter(out)}
}

// errShown ends a run that has shown where it diverges.
var errShown = errors.New("the runs have diverged")

// Write takes one line, as sim.Trace writes it.
func (l *Lockstep) Write(line []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	l.window = append(l.window, bytes.Clone(line))
	l.lines++
	if len(l.window) == windowLines {
		l.err = l.agree("at")
	}
	return len(line), l.err
}

// Close tells the end of the trace.
func (l *Lockstep) Close() error {
	if l.err == nil {
		l.err = l.agree("end")
	}
	if errors.Is(l.err, errShown) {
		return nil
	}
	return l.err
}

// agree tells where the run is and does what the judge says.
func (l *Lockstep) agree(what string) error {
	last := []byte("none")
	if n, before := len(l.window), len(l.before); n > 0 {
		last = chainedHash(l.window[n-1])
	} else if before > 0 { // the run ends where a window does
		last = chainedHash(l.before[before-1])
	}
	fmt.Fprintf(l.out, "%s %d %s\n", what, l.lines, last)
	if err := l.out.Flush(); err != nil {
		return fmt.Errorf("lockstep: %w", err)
	}
	answer, err := l.in.ReadString('\n')
	switch {
	case err != nil:
		return fmt.Errorf("lockstep: %w", err)
	case answer == "on\n":
		tail := l.window[max(0, len(l.window)-sim.DivergenceContext):]
		l.before, l.window = slices.Clone(tail), l.window[:0]
		return nil
	}
	fmt.Fprintf(l.out, "lines %d\n", len(l.before)+len(l.window))
	for _, line := range slices.Concat(l.before, l.window) {
		l.out.Write(line)
	}
	if err := l.out.Flush(); err != nil {
		return fmt.Errorf("lockstep: %w", err)
	}
	return errShown
}

// chainedHash returns the hash at the end of a line: of all that was traced so far. The header has
// none of its own; its last member stands for one.
func chainedHash(line []byte) []byte {
	from := bytes.LastIndex(line, []byte(`:"`)) + 2
	to := bytes.LastIndexByte(line, '"')
	if from < 2 || to < from {
		return []byte("none")
	}
	return line[from:to]
}
