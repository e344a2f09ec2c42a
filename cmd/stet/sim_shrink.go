package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stet/scenarios"
	"stet/scenarios/campaign"
	"stet/scenarios/schedule"
	"stet/scenarios/shrink"
)

// shrinkFlags say how a schedule is made small, and where to.
type shrinkFlags struct {
	For     time.Duration
	Out     string
	Jobs    int
	Canary  string
	Regress string
}

func simShrinkCommand() *cobra.Command {
	var f shrinkFlags
	c := &cobra.Command{
		Use:   "shrink FILE",
		Short: "Make a schedule that fails small, while it still fails the same check",
		Long: `Take faults, clients, sends, partitions, settings and timing off a schedule for as long as what is
left fails the same check. Candidates run in worker processes; what they have come to is told on
stderr. The result does not depend on their number, unless the time is up first.

Writes the small schedule, and beside it, with the extension .txt, a page that tells what happens in
it. With --regress, the schedule is also added to the tests of scenarios/regress under this name: it
has to pass there.

The last line reads

    shrunk <check> faults=<after>/<before> ops=<after>/<before> wall=<s>s out=<file>

Exits with 0, or with 1 if the schedule does not fail at all.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return simShrink(args[0], &f) },
	}
	flags := c.Flags()
	flags.DurationVar(&f.For, "for", time.Minute, "how long to try; 0 is until nothing gets it smaller")
	flags.StringVar(&f.Out, "out", "", "write the small schedule here; empty is FILE with .small before its extension")
	flags.IntVar(&f.Jobs, "jobs", runtime.NumCPU(), "worker processes")
	flags.StringVar(&f.Canary, "canary", "", "historical bugs to put back instead of those that FILE names")
	flags.StringVar(&f.Regress, "regress", "", "add the small schedule to the regression tests under this name")
	return c
}

func simShrink(path string, f *shrinkFlags) error {
	line, err := shrinkFile(path, f)
	if err == nil {
		fmt.Println(line)
	}
	return err
}

// shrinkFile writes the small schedule of a file, and what goes with it, and returns the line that
// says so.
func shrinkFile(path string, f *shrinkFlags) (string, error) {
	before, err := schedule.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("shrink: %w", err)
	}
	if scenario, _ := scenarios.Find(before.Scenario); scenario == nil {
		return "", fmt.Errorf("shrink: %s: scenario %q: no such scenario: see sim list", path, before.Scenario)
	}
	if f.Canary != "" {
		before.Canaries = f.Canary
	}
	if err := setCanaries(before.Canaries); err != nil {
		return "", fmt.Errorf("shrink: %s: %w", path, err)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	s := shrink.Shrink{Budget: f.For, Progress: func(line string) { fmt.Fprintln(os.Stderr, line) }}
	for range max(1, f.Jobs) {
		w := newShrinkWorker(before.Canaries)
		defer w.Close()
		s.Runners = append(s.Runners, w)
	}
	report, err := s.Run(ctx, before)
	if err != nil {
		return "", fmt.Errorf("shrink: %s: %w", path, err)
	}
	if report.Check == scenarios.Passed {
		return "", fmt.Errorf("shrink: %s: the schedule does not fail: nothing to shrink", path)
	}
	out := f.Out
	if out == "" {
		ext := filepath.Ext(path)
		out = strings.TrimSuffix(path, ext) + ".small" + ext
	}
	if err := report.Seal(ctx, s.Runners[0]); err != nil {
		return "", fmt.Errorf("shrink: %s: %w", path, err)
	}
	if err := writeShrunk(report, out, f.Regress); err != nil {
		return "", fmt.Errorf("shrink: %w", err)
	}
	return fmt.Sprintf("shrunk %s faults=%d/%d ops=%d/%d wall=%.1fs out=%s", report.Check,
		len(report.After.Faults), len(before.Faults), report.After.OperationCount(),
		before.OperationCount(), report.Wall.Seconds(), out), nil
}

func newShrinkWorker(canaries string) *shrink.Worker {
	command := []string{os.Args[0], "sim", "worker"}
	if canaries != "" {
		command = append(command, "--canary", canaries)
	}
	return &shrink.Worker{Runner: campaign.Runner{Command: command}}
}

// writeShrunk writes the schedule, the story of it, and the regression test.
func writeShrunk(r *shrink.Report, out, regress string) error {
	if err := r.After.WriteFile(out); err != nil {
		return err
	}
	if regress != "" {
		if err := addRegression(r.After, regress); err != nil {
			return err
		}
	}
	if r.Result.Hash == "" {
		return nil // it takes its process along
	}
	file, err := os.Create(strings.TrimSuffix(out, filepath.Ext(out)) + ".txt")
	if err != nil {
		return err
	}
	if err := r.Tell(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// addRegression adds a schedule to the regression tests of the module around here.
func addRegression(s *schedule.Schedule, name string) error {
	if name != filepath.Base(name) || strings.ContainsAny(name, ". ") {
		return fmt.Errorf("regress: %q: give a name of one word, as lost-tail", name)
	}
	dir, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	for {
		testdata := filepath.Join(dir, "scenarios", "regress", "testdata")
		if info, err := os.Stat(testdata); err == nil && info.IsDir() {
			return s.WriteFile(filepath.Join(testdata, name+".schedule"))
		}
		if dir == filepath.Dir(dir) {
			return errors.New("regress: no scenarios/regress/testdata here or above: run it in the module")
		}
		dir = filepath.Dir(dir)
	}
}
