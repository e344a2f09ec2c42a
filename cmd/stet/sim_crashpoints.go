package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"stet/scenarios/crashpoints"
)

// crashpointsFlags choose an enumeration.
type crashpointsFlags struct {
	Script     string
	Bound      int
	Recoveries int
	Operation  int
	Jobs       int
	Canary     string
	Part       string // script/mode/shard, for a worker
}

func simCrashpointsCommand() *cobra.Command {
	var f crashpointsFlags
	c := &cobra.Command{
		Use:   "crashpoints",
		Short: "Crash short scripts at every disk operation and judge what is left",
		Long: `Crash each script at every disk operation of its window: by process kill, and by power loss with
every legal outcome up to a bound. Scripts are roll, truncate (with torn-tail), checkpoint and
metadata. Prints what was found, a table, and one line

    crashpoints: ok|FAIL ops= points= crashes= outcomes= cut= disks= recoveries= violations= wall=<s>s

ops is the number of disk operations in the windows, points how many of them were struck at every
one of their moments; they must be equal. cut counts legal outcomes that the bound left out.
Exits with 10 if something was found or left out.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return simCrashpoints(&f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.Script, "script", "all", "roll, truncate, checkpoint, metadata or all")
	flags.IntVar(&f.Bound, "bound", 64, "most power-loss outcomes of one crash")
	flags.IntVar(&f.Recoveries, "recoveries", 100,
		"of so many disks one has its recovery crashed at every operation, too; 0 for none")
	flags.IntVar(&f.Operation, "operation", 0, "strike only this one of each window, counted from 1")
	flags.IntVar(&f.Jobs, "jobs", runtime.NumCPU(), "worker processes")
	flags.StringVar(&f.Canary, "canary", "", "historical bugs to put back, by id or name, with commas")
	flags.StringVar(&f.Part, "part", "", "do one part and print it as JSON")
	flags.MarkHidden("part")
	return c
}

// mostViolations is how many are printed.
const mostViolations = 20

func simCrashpoints(f *crashpointsFlags) error {
	if f.Bound < 2 || f.Jobs < 1 || f.Recoveries < 0 {
		return fmt.Errorf("crashpoints: give a bound of at least 2, at least one job, and no negative number")
	}
	if err := setCanaries(f.Canary); err != nil {
		return err
	}
	if f.Part != "" {
		return crashpointsPart(f)
	}
	scripts := crashpoints.Find(f.Script)
	if len(scripts) == 0 {
		return fmt.Errorf("script: %q: no such script: try roll, truncate, checkpoint, metadata or all", f.Script)
	}
	start := time.Now()
	results, err := f.run(crashpoints.Jobs(scripts))
	if err != nil {
		return err
	}
	rows, total := crashpoints.Sum(results)
	for i, v := range total.Violations {
		if i == mostViolations {
			fmt.Printf("and %d more\n", len(total.Violations)-i)
			break
		}
		fmt.Println(v)
	}
	fmt.Print(crashpoints.Table(rows))
	fmt.Printf("crashpoints: %s wall=%.1fs\n", total.Line(), time.Since(start).Seconds())
	if !total.OK() {
		return &exitError{code: exitSafety}
	}
	return nil
}

// run does the jobs in worker processes and returns their results in the order of the jobs.
func (f *crashpointsFlags) run(jobs []crashpoints.Job) ([]*crashpoints.Result, error) {
	results, faults := make([]*crashpoints.Result, len(jobs)), make([]error, len(jobs))
	next := make(chan int)
	var wait sync.WaitGroup
	for range f.Jobs {
		wait.Go(func() {
			for i := range next {
				results[i], faults[i] = f.work(jobs[i])
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	wait.Wait()
	for i, err := range faults {
		if err != nil {
			return nil, fmt.Errorf("crashpoints: %s: %w", jobs[i], err)
		}
	}
	return results, nil
}

// work has a process of its own do a part.
func (f *crashpointsFlags) work(j crashpoints.Job) (*crashpoints.Result, error) {
	args := []string{
		"sim", "crashpoints", "--part", j.String(),
		"--bound", strconv.Itoa(f.Bound), "--recoveries", strconv.Itoa(f.Recoveries),
		"--operation", strconv.Itoa(f.Operation),
	}
	if f.Canary != "" {
		args = append(args, "--canary", f.Canary)
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	r := &crashpoints.Result{}
	return r, json.Unmarshal(out, r)
}

func crashpointsPart(f *crashpointsFlags) error {
	j, ok := crashpoints.ParseJob(f.Part)
	if !ok {
		return fmt.Errorf("part: %q: give script/mode/shard", f.Part)
	}
	debug.SetGCPercent(400) // worlds come and go by the thousand
	return json.NewEncoder(os.Stdout).Encode(j.Run(crashpoints.Options{
		Bound: f.Bound, Recoveries: f.Recoveries, Operation: f.Operation,
	}))
}
