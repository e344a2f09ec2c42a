package scenarios

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sort"
	"strings"

	"stet/sim"
)

// Locate starts two commands that run the same seed with a Lockstep on their standard input and
// output, and returns where they first diverge, nil if they do not. Neither command may have been
// started. Their standard errors are the caller's.
func Locate(first, second *exec.Cmd) (d *sim.Divergence, err error) {
	var sides [2]stepper
	for i, cmd := range []*exec.Cmd{first, second} {
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, fmt.Errorf("lockstep: %w", err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, fmt.Errorf("lockstep: %w", err)
		}
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("lockstep: %w", err)
		}
		defer func() {
			_ = cmd.Process.Kill() // it has ended, or has nothing more to say
			_ = cmd.Wait()
		}()
		sides[i] = stepper{bufio.NewReader(out), in}
	}
	return locate(sides)
}

// stepper is one of the two runs as the judge sees it.
type stepper struct {
	*bufio.Reader
	io.Writer
}

// position is where a run is: "at" a line or at the "end", and the chained hash there.
type position struct {
	what  string
	lines int
	hash  string
}

// locate compares window by window until the hashes differ, and then looks into the window.
func locate(sides [2]stepper) (*sim.Divergence, error) {
	for {
		var at [2]position
		for i, s := range sides {
			if _, err := fmt.Fscanf(s, "%s %d %s\n", &at[i].what, &at[i].lines, &at[i].hash); err != nil {
				return nil, fmt.Errorf("lockstep: run %d ended early: %w", i+1, err)
			}
		}
		if at[0] != at[1] {
			return search(sides, at)
		}
		for _, s := range sides {
			if _, err := io.WriteString(s, "on\n"); err != nil {
				return nil, fmt.Errorf("lockstep: %w", err)
			}
		}
		if at[0].what == "end" {
			return nil, nil
		}
	}
}

// search finds the first line that differs in the windows of both runs. The hashes are chained, so
// from that line on all of them differ, and it can be bisected for.
func search(sides [2]stepper, at [2]position) (*sim.Divergence, error) {
	var shown [2][]string
	for i, s := range sides {
		var err error
		if shown[i], err = s.show(); err != nil {
			return nil, fmt.Errorf("lockstep: run %d: %w", i+1, err)
		}
	}
	a, b := shown[0], shown[1]
	hash := func(line string) string { return string(chainedHash([]byte(line))) }
	n := sort.Search(min(len(a), len(b)), func(i int) bool { return hash(a[i]) != hash(b[i]) })
	if n == len(a) && n == len(b) {
		return nil, errors.New("lockstep: the windows are equal, and their hashes are not")
	}
	d := &sim.Divergence{
		Line: at[0].lines - len(a) + n + 1, Before: a[max(0, n-sim.DivergenceContext):n],
	}
	if n < len(a) {
		d.A = a[n]
	}
	if n < len(b) {
		d.B = b[n]
	}
	return d, nil
}

// show asks for the lines of the window.
func (s stepper) show() ([]string, error) {
	if _, err := io.WriteString(s, "show\n"); err != nil {
		return nil, err
	}
	var count int
	if _, err := fmt.Fscanf(s, "lines %d\n", &count); err != nil {
		return nil, err
	}
	lines := make([]string, count)
	for i := range lines {
		line, err := s.ReadString('\n')
		if err != nil {
			return nil, err
		}
		lines[i] = strings.TrimSuffix(line, "\n")
	}
	return lines, nil
}
