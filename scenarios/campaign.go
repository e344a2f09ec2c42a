package scenarios

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"stet/core/invariant"
)

// seedTimeout bounds one run; a run takes well under a second.
const seedTimeout = 2 * time.Minute

// Campaign runs seeds of scenarios in worker processes.
type Campaign struct {
	Scenarios []string
	From, To  uint64 // seeds, inclusive
	Jobs      int
	Calm      bool // without faults
	// Worker is the command that serves Work on its stdin and stdout.
	Worker []string
	// Failed, if set, is told of each failed run as it happens; calls are serial.
	Failed func(*Result)
}

// Job is one run that a campaign asks a worker for.
type Job struct {
	Scenario string
	Seed     uint64
	Calm     bool // without faults
}

// Summary is the outcome of a campaign.
type Summary struct {
	Name      string
	From, To  uint64
	OK        int64
	Failures  []*Result
	Excused   int64
	Acked     int64
	Events    int64
	Simulated time.Duration
	Busy      time.Duration // sum of the runs' wall times
	Wall      time.Duration
	Walls     []time.Duration // of each run, sorted
	Counters  map[string]int64
	Marks     map[string]uint64
}

// Run runs the campaign to its end, or until ctx ends.
func (c *Campaign) Run(ctx context.Context) (*Summary, error) {
	s := &Summary{
		Name: campaignName(c.Scenarios), From: c.From, To: c.To,
		Counters: map[string]int64{}, Marks: map[string]uint64{},
	}
	start := time.Now()
	jobs := make(chan Job)
	go c.feed(ctx, jobs)
	var mu sync.Mutex
	var wait sync.WaitGroup
	faults := make([]error, max(1, c.Jobs))
	for i := range faults {
		wait.Go(func() {
			faults[i] = c.work(ctx, jobs, func(r *Result) {
				mu.Lock()
				defer mu.Unlock()
				s.add(r)
				if r.Check != Passed && c.Failed != nil {
					c.Failed(r)
				}
			})
		})
	}
	wait.Wait()
	s.Wall = time.Since(start)
	slices.Sort(s.Walls)
	return s, errors.Join(faults...)
}

func campaignName(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "all"
}

func (c *Campaign) feed(ctx context.Context, jobs chan<- Job) {
	defer close(jobs)
	for seed := c.From; ; seed++ {
		for _, name := range c.Scenarios {
			select {
			case jobs <- Job{name, seed, c.Calm}:
			case <-ctx.Done():
				return
			}
		}
		if seed == c.To {
			return
		}
	}
}

// work serves jobs with one worker process after another: one that dies takes its seed along.
func (c *Campaign) work(ctx context.Context, jobs <-chan Job, report func(*Result)) error {
	var w *workerProcess
	defer func() { w.stop() }()
	for job := range jobs {
		if w == nil {
			var err error
			if w, err = startWorker(c.Worker); err != nil {
				return err
			}
		}
		r, alive := w.run(ctx, job)
		report(r)
		if !alive {
			w = nil
		}
	}
	return nil
}

func (s *Summary) add(r *Result) {
	if r.Check == Passed {
		s.OK++
	} else {
		s.Failures = append(s.Failures, r)
	}
	s.Excused += r.Excused
	s.Acked += r.Acked
	s.Events += r.Events
	s.Simulated += r.Simulated
	s.Busy += r.Wall
	s.Walls = append(s.Walls, r.Wall)
	for name, n := range r.Counters {
		s.Counters[name] += n
	}
	for name, n := range r.Marks {
		s.Marks[name] += n
	}
}

// MissedMarks lists the coverage marks that no run has reached.
func (s *Summary) MissedMarks() []string {
	var missed []string
	for _, m := range invariant.Marks() {
		if s.Marks[m.Name] == 0 {
			missed = append(missed, m.Name)
		}
	}
	return missed
}

// ExitCode is the worst of all runs. Marks count only where a campaign has to reach them all.
func (s *Summary) ExitCode(marksCount bool) int {
	var codes []int
	for _, r := range s.Failures {
		codes = append(codes, r.Check.ExitCode())
	}
	if marksCount && len(s.MissedMarks()) > 0 {
		codes = append(codes, ExitMark)
	}
	return Worst(codes)
}

// Line is the last line that a campaign prints.
func (s *Summary) Line() string {
	all := len(invariant.Marks())
	seconds := max(s.Wall.Seconds(), 1e-9)
	return fmt.Sprintf("campaign scenario=%s seeds=%d..%d ok=%d failed=%d excused=%d marks=%d/%d "+
		"events_per_s=%.0f seeds_per_s=%.1f sim_wall=%.1f p50_ms=%d p95_ms=%d",
		s.Name, s.From, s.To, s.OK, len(s.Failures), s.Excused, all-len(s.MissedMarks()), all,
		float64(s.Events)/seconds, float64(len(s.Walls))/seconds,
		s.Simulated.Seconds()/max(s.Busy.Seconds(), 1e-9),
		s.percentile(50).Milliseconds(), s.percentile(95).Milliseconds())
}

func (s *Summary) percentile(p int) time.Duration {
	if len(s.Walls) == 0 {
		return 0
	}
	return s.Walls[(len(s.Walls)-1)*p/100]
}

// CounterLines prints the counters, sorted by name.
func (s *Summary) CounterLines() []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
		lines = append(lines, fmt.Sprintf("counter %s=%d", name, s.Counters[name]))
	}
	return lines
}

// workerProcess is a child that runs one job at a time.
type workerProcess struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

func startWorker(command []string) (*workerProcess, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return &workerProcess{cmd, stdin, bufio.NewReaderSize(stdout, 1<<20)}, nil
}

// run has the worker run one job. A worker that is killed ran out of memory, one that exits by
// itself crashed, one that does not answer in time is hung; none of these is a pass.
func (w *workerProcess) run(ctx context.Context, job Job) (r *Result, alive bool) {
	timer := time.AfterFunc(seedTimeout, func() { w.cmd.Process.Kill() })
	stop := context.AfterFunc(ctx, func() { w.cmd.Process.Kill() })
	defer stop()
	json.NewEncoder(w.stdin).Encode(job)
	r = &Result{}
	line, err := w.stdout.ReadBytes('\n')
	inTime := timer.Stop()
	if err == nil {
		err = json.Unmarshal(line, r)
	}
	if err == nil {
		return r, true
	}
	w.cmd.Wait()
	check := Panic
	switch {
	case !inTime:
		check = Timeout
	case !w.cmd.ProcessState.Exited():
		check = OutOfMemory
	}
	return &Result{
		Scenario: job.Scenario, Seed: job.Seed, Check: check,
		Evidence: []string{"the worker process ended: " + w.cmd.ProcessState.String()},
	}, false
}

func (w *workerProcess) stop() {
	if w != nil {
		w.stdin.Close()
		w.cmd.Wait()
	}
}

// Work serves jobs from in, one JSON value after another, and writes a line of JSON for each.
func Work(in io.Reader, out io.Writer, run func(Job) *Result) error {
	jobs := json.NewDecoder(in)
	results := json.NewEncoder(out)
	for {
		var job Job
		if err := jobs.Decode(&job); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("worker: %w", err)
		}
		if err := results.Encode(run(job)); err != nil {
			return fmt.Errorf("worker: %w", err)
		}
	}
}
