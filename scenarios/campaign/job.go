package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"stet/scenarios"
)

// Job is one run that a campaign asks a worker for.
type Job struct {
	Scenario string
	Seed     uint64
	Calm     bool `json:",omitempty"` // without faults
	// Schedule, if set, is the text of a schedule file, and takes the place of the seed.
	Schedule string `json:",omitempty"`
	// Until and MaxEvents cut the run short: see scenarios.Options.
	Until     scenarios.Check `json:",omitempty"`
	MaxEvents uint64          `json:",omitempty"`
}

// Work serves jobs from in, one JSON value after another, and writes a line of JSON for each.
func Work(in io.Reader, out io.Writer, run func(Job) *scenarios.Result) error {
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
