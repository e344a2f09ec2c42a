package campaign

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"stet/scenarios"
)

// worker is a child process that runs one job at a time.
type worker struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *opening
}

func startWorker(command []string) (*worker, error) {
	cmd := exec.Command(command[0], command[1:]...)
	w := &worker{cmd: cmd, stderr: &opening{}}
	cmd.Stderr = w.stderr
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
	w.stdin, w.stdout = stdin, bufio.NewReaderSize(stdout, 1<<20)
	return w, nil
}

var (
	errCut      = errors.New("cut short")    // of a run, by the end of the campaign
	errNonsense = errors.New("not a result") // of an answer
)

// run has the worker run one job. One that is killed ran out of memory, one that ends by itself
// crashed, one that does not answer in time is hung; none of these is a pass. The error is errCut,
// or says that this worker can run nothing.
func (w *worker) run(ctx context.Context, job Job, limit time.Duration) (*scenarios.Result, error) {
	start := time.Now()
	timer := time.AfterFunc(limit, w.kill)
	stop := context.AfterFunc(ctx, w.kill)
	r, err := w.ask(job)
	inTime, uncut := timer.Stop(), stop()
	switch {
	case err == nil:
		w.stderr.reset() // not before a run: a worker may refuse its command before its first one
		if !inTime || !uncut {
			w.bury() // it was killed after it had answered
		}
		return r, nil
	case !uncut:
		w.bury()
		return nil, errCut
	}
	if errors.Is(err, errNonsense) {
		w.kill() // it still runs
	}
	w.bury()
	said := strings.TrimSpace(w.stderr.String())
	if w.cmd.ProcessState.ExitCode() == scenarios.ExitUsage {
		return nil, fmt.Errorf("worker: %s: %s", w.cmd.ProcessState, said)
	}
	check, why := scenarios.Panic, err.Error()
	if !errors.Is(err, errNonsense) {
		check = w.death(inTime, said)
		why = "the worker process ended: " + w.cmd.ProcessState.String()
	}
	if said != "" {
		why += "\n" + said
	}
	return &scenarios.Result{
		Scenario: job.Scenario, Seed: job.Seed, Check: check, Failed: []scenarios.Check{check},
		Evidence: []string{string(check) + ": " + why}, Wall: time.Since(start),
	}, nil
}

// ask sends a job and reads its result.
func (w *worker) ask(job Job) (*scenarios.Result, error) {
	// A worker that cannot be written to is dead, which the read finds out.
	_ = json.NewEncoder(w.stdin).Encode(job)
	line, err := w.stdout.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	r := &scenarios.Result{}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, fmt.Errorf("%w: %w: %.100q", errNonsense, err, line)
	}
	return r, nil
}

func (w *worker) kill() { w.cmd.Process.Kill() }

// bury waits for a worker that is about to be dead, and forgets its pipes.
func (w *worker) bury() {
	w.stdin.Close()
	w.cmd.Wait()
}

// dead says whether the worker was buried.
func (w *worker) dead() bool { return w == nil || w.cmd.ProcessState != nil }

// stop ends a worker that waits for a job.
func (w *worker) stop() {
	if !w.dead() {
		w.bury()
	}
}

// death says what a worker died of, from how it ended and what it last said.
func (w *worker) death(inTime bool, said string) scenarios.Check {
	status, _ := w.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !inTime:
		return scenarios.Timeout
	case status.Signaled() && status.Signal() == syscall.SIGKILL,
		strings.Contains(said, "out of memory"), strings.Contains(said, "cannot allocate memory"):
		return scenarios.OutOfMemory
	}
	return scenarios.Panic
}

// opening keeps the beginning of what a process says during a run: a dying one gives the reason
// and the first stack there.
type opening struct {
	mu   sync.Mutex
	text []byte
}

const openingBytes = 4 << 10

// Write implements io.Writer.
func (o *opening) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p[:min(len(p), openingBytes-len(o.text))]...)
	return len(p), nil
}

func (o *opening) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = o.text[:0]
}

// String returns what was said since the last reset.
func (o *opening) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}
