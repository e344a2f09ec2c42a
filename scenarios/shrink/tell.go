package shrink

import (
	"bufio"
	"io"

	"stet/scenarios"
	"stet/scenarios/shrink/story"
)

// storyEvents bounds the events of a run that is told: one that never ends repeats itself.
const storyEvents = 300_000

// Tell runs the schedule of a sealed report in this process, up to where it fails, and writes the
// story of it. A run that takes its process along cannot be told.
func (r *Report) Tell(w io.Writer) error {
	scenario, _ := scenarios.Find(r.After.Scenario)
	from, to := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(to, 1<<20)
		scenarios.Run(scenario, r.After.Seed, scenarios.Options{
			Schedule: r.After, Trace: out, Until: r.Check, MaxEvents: storyEvents,
		})
		to.CloseWithError(out.Flush())
	}()
	defer from.Close() // else the run waits for a reader for ever
	return story.Tell(w, r.After, r.Result, from)
}
