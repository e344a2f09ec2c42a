// Planted puts historical bugs back, one at a time, finds a seed that each fails, and has the
// command shrink what happened: a table of what is left, and how long it took.
//
//	planted [-for DURATION] [-jobs N] [-only IDS] [-keep DIR] STET
//
// STET is a binary built with the canary tag.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// plants are bugs, and a scenario that finds each.
var plants = []plant{
	{"46", "single-node-power-loss"},
	{"48", "single-node-power-loss"},
	{"50", "disk-faults"},
	{"51", "disk-faults"},
	{"53", "disk-faults"},
	{"57", "single-node-power-loss"},
	{"61", "disk-faults"},
	{"65", "disk-faults"},
	{"67", "idempotent-retries"},
	{"W1", "disk-faults"},
}

type plant struct{ id, scenario string }

// row is what came of one.
type row struct {
	plant
	seed                  int
	check                 string
	faults, faultsBefore  int
	operations, opsBefore int
	seconds               float64
}

// maxSeeds bounds the search for a seed that fails.
const maxSeeds = 500

type options struct {
	stet   string
	budget time.Duration
	jobs   int
	dir    string
}

func main() {
	var o options
	flag.DurationVar(&o.budget, "for", time.Minute, "how long to shrink each")
	flag.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "worker processes")
	only := flag.String("only", "", "ids to shrink, with commas; empty is all")
	flag.StringVar(&o.dir, "keep", "", "keep schedules and stories in this directory")
	flag.Parse()
	if o.stet = flag.Arg(0); flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "planted: usage: planted [flags] STET")
		os.Exit(1)
	}
	if err := run(o, *only); err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

func run(o options, only string) error {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "planted-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	var faults []int
	var seconds []float64
	fmt.Println("| canary | scenario | seed | check | faults | of | operations | of | seconds |")
	fmt.Println("|---|---|--:|---|--:|--:|--:|--:|--:|")
	for _, p := range plants {
		if only != "" && !slices.Contains(strings.Split(only, ","), p.id) {
			continue
		}
		r, err := o.shrink(p)
		if err != nil {
			return fmt.Errorf("canary %s: %w", p.id, err)
		}
		fmt.Printf("| %s | %s | %d | %s | %d | %d | %d | %d | %.1f |\n", r.id, r.scenario, r.seed, r.check,
			r.faults, r.faultsBefore, r.operations, r.opsBefore, r.seconds)
		faults, seconds = append(faults, r.faults), append(seconds, r.seconds)
	}
	slices.Sort(faults)
	slices.Sort(seconds)
	if len(faults) == 0 {
		return fmt.Errorf("%q: no such canary", only)
	}
	fmt.Printf("planted: shrunk=%d median_faults=%d median_s=%.1f max_s=%.1f\n", len(faults),
		faults[len(faults)/2], seconds[len(seconds)/2], seconds[len(seconds)-1])
	return nil
}

// lastLine is what the command prints at the end of shrinking.
var lastLine = regexp.MustCompile(`shrunk (\S+) faults=(\d+)/(\d+) ops=(\d+)/(\d+) wall=([\d.]+)s`)

// shrink finds a seed that fails with the bug, and shrinks it.
func (o options) shrink(p plant) (r row, err error) {
	r.plant = p
	path := filepath.Join(o.dir, p.id+".schedule")
	if r.seed, err = o.record(p, path); err != nil {
		return r, err
	}
	out, err := o.command("shrink", path, "--for", o.budget.String(), "--jobs", strconv.Itoa(o.jobs))
	if err != nil {
		return r, err
	}
	m := lastLine.FindStringSubmatch(out)
	if m == nil {
		return r, fmt.Errorf("not the line of a shrunk schedule: %s", out)
	}
	r.check = m[1]
	for i, to := range []*int{&r.faults, &r.faultsBefore, &r.operations, &r.opsBefore} {
		if *to, err = strconv.Atoi(m[i+2]); err != nil {
			return r, err
		}
	}
	if r.seconds, err = strconv.ParseFloat(m[6], 64); err != nil {
		return r, err
	}
	return r, o.confirm(filepath.Join(o.dir, p.id+".small.schedule"), r.check)
}

// record writes the schedule of the first seed that fails.
func (o options) record(p plant, path string) (int, error) {
	for seed := 1; seed <= maxSeeds; seed++ {
		_, err := o.command("run", "--scenario", p.scenario, "--seed", strconv.Itoa(seed), "--canary", p.id,
			"--schedule", path)
		var failed *exec.ExitError
		switch {
		case errors.As(err, &failed) && failed.ExitCode() >= 10:
			return seed, nil
		case err != nil:
			return 0, err
		}
	}
	return 0, fmt.Errorf("no seed up to %d fails", maxSeeds)
}

// confirm replays the small schedule in a process of its own.
func (o options) confirm(path, check string) error {
	out, err := o.command("replay", path)
	if err == nil || !strings.Contains("\n"+out, "\nFAIL "+check+" ") {
		return fmt.Errorf("%s: does not fail %s when it is replayed: %s", path, check, out)
	}
	return nil
}

// command runs a subcommand of the simulator and returns what it prints. Its error has the exit
// code, and what was said.
func (o options) command(args ...string) (string, error) {
	cmd := exec.Command(o.stet, append([]string{"sim"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		err = fmt.Errorf("sim %s: %w: %s", args[0], err, lines[len(lines)-1])
	}
	return string(out), err
}
