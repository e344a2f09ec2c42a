package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"stet/scenarios"
)

// resultTimeout is how long a worker may take for one run; the race detector's take seconds.
const resultTimeout = 5 * time.Minute

// outcome is what has to agree of one run.
type outcome struct {
	hash  string
	check scenarios.Check // what failed
}

// outcomes holds one for each job.
type outcomes []outcome

func (o outcomes) divergent(other outcomes) int {
	n := 0
	for i := range o {
		if o[i] != other[i] {
			n++
		}
	}
	return n
}

func (o outcomes) passed() int {
	n := 0
	for _, run := range o {
		if run.check == scenarios.Passed {
			n++
		}
	}
	return n
}

// runs builds a variant and runs jobs, dealt out to a worker process a core.
func (m *matrix) runs(v variant, all []job) (outcomes, error) {
	binary, err := m.binary(v)
	if err != nil {
		return nil, err
	}
	out := make(outcomes, len(all))
	faults := make([]error, m.workers)
	var wait sync.WaitGroup
	for w := range m.workers {
		var mine []int
		for i := w; i < len(all); i += m.workers {
			mine = append(mine, i)
		}
		if v.reversed {
			slices.Reverse(mine)
		}
		wait.Go(func() { faults[w] = work(binary, v.run, all, mine, out) })
	}
	wait.Wait()
	return out, errors.Join(faults...)
}

// work has one worker process run the jobs of these indexes.
func work(binary string, environment []string, all []job, indexes []int, out outcomes) error {
	cmd := exec.Command(binary, "sim", "worker")
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	hung := time.AfterFunc(resultTimeout, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	jobs, results := json.NewEncoder(stdin), json.NewDecoder(stdout)
	for _, i := range indexes {
		if out[i], err = runJob(jobs, results, all[i]); err != nil {
			_ = cmd.Process.Kill()
			return errors.Join(fmt.Errorf("%s/%#x: %w", all[i].Scenario, all[i].Seed, err),
				cmd.Wait())
		}
		hung.Reset(resultTimeout)
	}
	return errors.Join(stdin.Close(), drained(stdout), cmd.Wait())
}

// runJob passes one job to a worker and reads its outcome.
func runJob(jobs *json.Encoder, results *json.Decoder, j job) (outcome, error) {
	if err := jobs.Encode(j); err != nil {
		return outcome{}, fmt.Errorf("the worker takes no jobs: %w", err)
	}
	var r scenarios.Result
	if err := results.Decode(&r); err != nil {
		return outcome{}, fmt.Errorf("the worker ended or hung: %w", err)
	}
	if r.Hash == "" {
		return outcome{}, fmt.Errorf("no hash: %s", r.Check)
	}
	return outcome{r.Hash, r.Check}, nil
}

func drained(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}
