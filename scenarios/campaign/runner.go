package campaign

import (
	"context"
	"errors"
	"time"

	"stet/scenarios"
)

// defaultTimeout bounds one run; a run takes well under a second.
const defaultTimeout = 2 * time.Minute

// Runner runs jobs in a worker process, one at a time. A process that dies is replaced.
type Runner struct {
	Command []string // serves Work on its stdin and stdout
	// Timeout bounds the wall time of a run; 0 is two minutes.
	Timeout time.Duration
	worker  *worker
}

// Run runs a job. The error is that of ctx, or says that no worker runs.
func (r *Runner) Run(ctx context.Context, job Job) (*scenarios.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.worker.dead() {
		var err error
		if r.worker, err = startWorker(r.Command); err != nil {
			return nil, err
		}
	}
	limit := r.Timeout
	if limit == 0 {
		limit = defaultTimeout
	}
	result, err := r.worker.run(ctx, job, limit)
	if errors.Is(err, errCut) {
		return nil, ctx.Err()
	}
	return result, err
}

// Close ends the process.
func (r *Runner) Close() { r.worker.stop() }
