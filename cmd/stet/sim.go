package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stet/core/env"
	"stet/core/invariant"
	"stet/node/recording"
	"stet/node/system"
	"stet/scenarios"
	"stet/scenarios/schedule"
)

func simCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sim",
		Short: "Run the simulator: one seed, many seeds, or a replay",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(simListCommand(), simRunCommand(), simReplayCommand(), simCampaignCommand(),
		simWorkerCommand())
	c.AddCommand(simCrashpointsCommand(), simShrinkCommand())
	return c
}

func simListCommand() *cobra.Command {
	var canaries, marks bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the scenarios, canaries or coverage marks",
		Args:  cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			switch {
			case canaries:
				for _, info := range invariant.Canaries() {
					fmt.Println(info.ID, info.Name, info.Source)
				}
			case marks:
				for _, m := range invariant.Marks() {
					fmt.Println(m.Name)
				}
			default:
				for _, s := range slices.Concat(scenarios.All(), scenarios.Clusters(), scenarios.Replication()) {
					fmt.Println(s.Name, s.Description)
				}
			}
		},
	}
	c.Flags().BoolVar(&canaries, "canaries", false, "list historical bugs that can be put back")
	c.Flags().BoolVar(&marks, "marks", false, "list coverage marks")
	return c
}

// runFlags choose one run.
type runFlags struct {
	Scenario string
	Seed     string
	Trace    string
	Schedule string
	Canary   string
	Twice    bool
	Lockstep bool
}

func simRunCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Run one seed of a scenario and judge it",
		Long: `Run one seed of a scenario. Evidence goes before the last line, which reads

    ok|FAIL <check> scenario= seed= events= ops= acked= faults= excused= sim=<s>s wall=<s>s hash=

With --schedule, what happened is written as a schedule: a text that says what clients did and which
faults came when, to be read, edited, shrunk (sim shrink) and run again (sim replay). With --twice,
two processes run the seed in step and must agree; where they first do not is told, with both sides.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return simRun(&f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.Scenario, "scenario", "", "name of the scenario (see sim list)")
	flags.StringVar(&f.Seed, "seed", "0", "64-bit seed, decimal or 0x")
	flags.StringVar(&f.Trace, "trace", "", "write every event to this file, as JSON lines")
	flags.StringVar(&f.Schedule, "schedule", "", "write what happened to this file, as a schedule")
	flags.StringVar(&f.Canary, "canary", "", "historical bugs to put back, by id or name, with commas")
	flags.BoolVar(&f.Twice, "twice", false, "run two processes and compare")
	flags.BoolVar(&f.Lockstep, "lockstep", false, "be one of the two processes of --twice")
	flags.Lookup("lockstep").Hidden = true
	c.MarkFlagRequired("scenario")
	return c
}

func simRun(f *runFlags) error {
	scenario, seed, err := chosen(f.Scenario, f.Seed)
	if err != nil {
		return err
	}
	if err := setCanaries(f.Canary); err != nil {
		return err
	}
	if f.Twice {
		return simTwice(f, scenario, seed)
	}
	if f.Lockstep {
		l := scenarios.NewLockstep(os.Stdin, os.Stdout)
		scenarios.Run(scenario, seed, scenarios.Options{Trace: l})
		return l.Close()
	}
	var trace io.Writer
	if f.Trace != "" {
		file, err := os.Create(f.Trace)
		if err != nil {
			return fmt.Errorf("trace: %w", err)
		}
		defer file.Close()
		w := bufio.NewWriterSize(file, 1<<20)
		defer w.Flush()
		trace = w
	}
	r := scenarios.Run(scenario, seed, scenarios.Options{Trace: trace, Record: f.Schedule != ""})
	if f.Schedule != "" {
		r.Schedule.Canaries = f.Canary
		if err := r.Schedule.WriteFile(f.Schedule); err != nil {
			return fmt.Errorf("schedule: %w", err)
		}
	}
	return report(r)
}

// report prints a result and turns it into the exit code.
func report(r *scenarios.Result) error {
	for _, line := range r.Evidence {
		fmt.Println(line)
	}
	fmt.Println(r.Line())
	if code := r.Check.ExitCode(); code != 0 {
		return &exitError{code: code}
	}
	return nil
}

// simTwice runs the seed in two processes in step, and compares.
func simTwice(f *runFlags, scenario *scenarios.Scenario, seed uint64) error {
	var runs [2]*exec.Cmd
	for i := range runs {
		args := []string{"sim", "run", "--scenario", scenario.Name, "--seed", f.Seed, "--lockstep"}
		if f.Canary != "" {
			args = append(args, "--canary", f.Canary)
		}
		runs[i] = exec.Command(os.Args[0], args...)
		runs[i].Stderr = os.Stderr
	}
	divergence, err := scenarios.Locate(runs[0], runs[1])
	if err != nil {
		return fmt.Errorf("twice: %w", err)
	}
	r := scenarios.Run(scenario, seed, scenarios.Options{})
	if divergence != nil {
		r.Check = scenarios.Nondeterminism
		r.Evidence = append(r.Evidence, "first divergent event, "+divergence.String())
	}
	return report(r)
}

// chosen finds a scenario and parses a seed.
func chosen(name, seed string) (*scenarios.Scenario, uint64, error) {
	s, near := scenarios.Find(name)
	if s == nil {
		return nil, 0, fmt.Errorf("scenario: %q: no such scenario: try %s", name, strings.Join(near, ", "))
	}
	n, err := strconv.ParseUint(seed, 0, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("seed: %q: give 64 bits, decimal or 0x", seed)
	}
	return s, n, nil
}

func setCanaries(list string) error {
	if list == "" {
		return nil
	}
	if !invariant.CanaryBuild {
		return fmt.Errorf("canary: %s: this build can not put bugs back: build with -tags canary", list)
	}
	for name := range strings.SplitSeq(list, ",") {
		if !invariant.SetCanary(name) {
			return fmt.Errorf("canary: %q: no such canary: see sim list --canaries", name)
		}
	}
	return nil
}

func simReplayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay FILE",
		Short: "Run a trace, a schedule or a recording again and compare",
		Long: `Run FILE again: a trace of sim run or a recording of serve, compared event by event, or a schedule.

A schedule's faults whose moment does not come are listed. Its hash is compared if this binary was
built from its commit by its toolchain; after editing a schedule, take the line out.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return simReplay(args[0]) },
	}
}

// replaySchedule runs a schedule and says what of it did not happen.
func replaySchedule(path string) error {
	s, err := schedule.ReadFile(path)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	scenario, _, err := chosen(s.Scenario, "0")
	if err != nil {
		return fmt.Errorf("replay: %s: %w", path, err)
	}
	if err := setCanaries(s.Canaries); err != nil {
		return fmt.Errorf("replay: %s: %w", path, err)
	}
	r := scenarios.Run(scenario, s.Seed, scenarios.Options{Schedule: s})
	for _, fault := range r.Missed {
		fmt.Println("did not happen:", fault)
	}
	if here := scenarios.Provenance(); s.Hash != "" && s.Hash != r.Hash {
		if s.Commit != "" && s.Commit == here.Commit && s.Toolchain == here.Toolchain {
			r.Check = scenarios.Nondeterminism
		}
		fmt.Printf("the hash differs: %s of commit %q, %s\n", s.Hash, s.Commit, s.Toolchain)
	}
	return report(r)
}

func simReplay(path string) error {
	kind, err := scenarios.FileKind(path)
	if err != nil {
		return fmt.Errorf("replay: %s: %w", path, err)
	}
	if kind == "trace" {
		r, err := scenarios.ReplayTrace(path)
		if err != nil {
			return fmt.Errorf("replay: %s: %w", path, err)
		}
		return report(r)
	}
	if kind == "schedule" {
		return replaySchedule(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer file.Close()
	res, err := recording.Replay(file, func(seed [32]byte) func(env.Use) *rand.Rand {
		return system.Streams(seed)
	})
	if err != nil {
		return fmt.Errorf("replay: %s: %w", path, err)
	}
	if res.Divergent != "" {
		fmt.Println(res.Divergent)
		fmt.Printf("FAIL nondeterminism record=%s turns=%d events=%d\n", path, res.Turns, res.Events)
		return &exitError{code: exitNondeterminism}
	}
	fmt.Printf("ok record=%s turns=%d events=%d\n", path, res.Turns, res.Events)
	return nil
}
