package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stet/scenarios"
	"stet/scenarios/campaign"
)

// campaignFlags choose many runs.
type campaignFlags struct {
	Scenario string
	Seeds    string
	Shard    string
	Jobs     int
	Canary   string
	State    string
	Out      string
	Budget   time.Duration
	Timeout  time.Duration
	Shrink   time.Duration
	Progress bool
	Marks    bool
}

func simCampaignCommand() *cobra.Command {
	var f campaignFlags
	c := &cobra.Command{
		Use:   "campaign",
		Short: "Run many seeds, a process a core",
		Long: `Run seeds A..B (inclusive) of a scenario, of all with one node, of those with clusters, or of those with
replicas. Prints the line of each failed run, and the
evidence of the first of its class: failures that differ only in numbers are of one class. Then the
counters, over all scenarios the marks that each has reached, the floors, the classes of failures
by their smallest seed, and one line for the campaign.

Exits with the worst outcome of all runs: 10, 12, 11, 13; then 14 if a scenario of 50 runs or more
misses a floor, or a campaign over all, clusters or replication (or with --marks) a coverage mark that
they are there for. A campaign with
--canary is held to neither, nor is one that was interrupted, which exits 130 if no run has failed.

With --state, a campaign that was stopped goes on where it was. With --out, the directory gets
campaign.json, junit.xml and index.html, and with --shrink-budget the schedule of each class of
failures, whole and shrunk, with a page that tells what happens in it.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return simCampaign(&f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.Scenario, "scenario", "all", "name of a scenario, all of one node, clusters, or replication")
	flags.StringVar(&f.Seeds, "seeds", "1..100", "first and last seed, A..B")
	flags.StringVar(&f.Shard, "shard", "", "run only the i-th of n parts of the seeds, i/n")
	flags.IntVar(&f.Jobs, "jobs", runtime.NumCPU(), "worker processes")
	flags.StringVar(&f.Canary, "canary", "", "historical bugs to put back, by id or name, with commas")
	flags.StringVar(&f.State, "state", "", "keep the runs that are done in this file, and skip those it has")
	flags.StringVar(&f.Out, "out", "", "write campaign.json, junit.xml and index.html to this directory")
	flags.DurationVar(&f.Budget, "time-budget", 0, "begin no run after this time; 0 is no bound")
	flags.DurationVar(&f.Shrink, "shrink-budget", 0, "shrink each class of failures for this long, into --out; 0 is not at all")
	flags.DurationVar(&f.Timeout, "run-timeout", 2*time.Minute, "a run that takes longer fails")
	flags.BoolVar(&f.Progress, "progress", false, "show progress on stderr also if it is no terminal")
	flags.BoolVar(&f.Marks, "marks", false, "demand all coverage marks also of one scenario")
	return c
}

func simCampaign(f *campaignFlags) error {
	c, err := f.campaign()
	if err != nil {
		return err
	}
	if f.State != "" {
		id, err := campaign.ThisBuild(f.Canary, c.Calm)
		if err != nil {
			return err
		}
		if c.State, err = campaign.OpenState(f.State, id); err != nil {
			return err
		}
		defer c.State.Close()
	}
	progress := f.progress()
	c.Ended = func(s *campaign.Summary, _ *scenarios.Result) { progress.Show(s) }
	c.Failed = func(r *scenarios.Result, first bool) {
		progress.Clear()
		if first {
			printLines(r.Evidence)
		}
		fmt.Println(r.Line())
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	s, err := c.Run(ctx)
	progress.Clear()
	if err != nil {
		return err
	}
	return f.conclude(s, ctx.Err() != nil)
}

// groups are the names of several scenarios at once.
var groups = map[string]func() []*scenarios.Scenario{
	"all": scenarios.All, "clusters": scenarios.Clusters, "replication": scenarios.Replication,
}

// campaign is what the flags ask for.
func (f *campaignFlags) campaign() (c *campaign.Campaign, err error) {
	c = &campaign.Campaign{
		Jobs: f.Jobs, Timeout: f.Timeout, Budget: f.Budget,
		Worker: []string{os.Args[0], "sim", "worker"},
	}
	if err := setCanaries(f.Canary); err != nil {
		return nil, err
	}
	if f.Canary != "" {
		c.Worker = append(c.Worker, "--canary", f.Canary)
	}
	if of := groups[f.Scenario]; of != nil {
		c.Name = f.Scenario
		for _, s := range of() {
			c.Scenarios = append(c.Scenarios, s.Name)
		}
	} else {
		s, _, err := chosen(f.Scenario, "0")
		if err != nil {
			return nil, err
		}
		c.Scenarios = []string{s.Name}
	}
	if f.Shrink > 0 && f.Out == "" {
		return nil, errors.New("shrink-budget: say with --out where the schedules go")
	}
	if f.Shrink > 0 {
		c.OnClass = f.shrinkClass
	}
	if c.Seeds, err = campaign.ParseSeeds(f.Seeds); err != nil {
		return nil, err
	}
	c.Shard, err = campaign.ParseShard(f.Shard)
	return c, err
}

// progress shows nothing if nobody looks.
func (f *campaignFlags) progress() *campaign.Progress {
	terminal := campaign.IsTerminal(os.Stderr)
	if !terminal && !f.Progress {
		return campaign.NewProgress(io.Discard, false, 0)
	}
	return campaign.NewProgress(os.Stderr, terminal, f.Budget)
}

// conclude prints the end of a campaign, writes its files, and turns it into the exit code.
func (f *campaignFlags) conclude(s *campaign.Summary, interrupted bool) error {
	all := groups[f.Scenario] != nil || f.Marks
	judged := f.Canary == "" && !interrupted
	printLines(s.CounterLines())
	if all {
		printLines(s.MarkTable())
	}
	for _, mark := range s.MissedMarks() {
		fmt.Println("mark never reached:", mark)
	}
	for _, floor := range s.Floors() {
		fmt.Println(floor.Line())
	}
	for _, class := range s.Classes {
		fmt.Println(class.Line())
		printLines(class.Notes)
		fmt.Println("  replay:", class.ReplayCommand(f.Canary))
	}
	if s.Runs() < s.Total {
		fmt.Printf("stopped: %d of %d runs\n", s.Runs(), s.Total)
	}
	code := s.ExitCode(all && judged, judged)
	if code == 0 && interrupted {
		code = exitInterrupted
	}
	if f.Out != "" {
		report := campaign.Report{
			Summary: s, Canary: f.Canary, ExitCode: code,
			MarksCount: all && judged, FloorsCount: judged,
		}
		if err := report.Write(f.Out); err != nil {
			return err
		}
	}
	fmt.Println(s.Line())
	if code != 0 {
		return &exitError{code: code}
	}
	return nil
}

func printLines(lines []string) {
	for _, line := range lines {
		fmt.Println(line)
	}
}
