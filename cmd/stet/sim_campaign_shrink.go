package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"stet/scenarios/campaign"
)

// shrinkClass writes what happened in the first run of a class of failures as a schedule, and
// shrinks it. It leaves a note of either, or of why there is none.
func (f *campaignFlags) shrinkClass(c *campaign.Class) {
	note := func(format string, args ...any) {
		c.Notes = append(c.Notes, fmt.Sprintf("  "+format, args...))
	}
	if err := os.MkdirAll(f.Out, 0o755); err != nil {
		note("no schedule: %v", err)
		return
	}
	path := filepath.Join(f.Out, "class-"+c.ID+".schedule")
	args := []string{
		"sim", "run", "--scenario", c.First.Scenario, "--seed", fmt.Sprint(c.First.Seed),
		"--schedule", path,
	}
	if f.Canary != "" {
		args = append(args, "--canary", f.Canary)
	}
	// A process of its own: the run fails, and may take its process along.
	err := exec.Command(os.Args[0], args...).Run()
	if _, missing := os.Stat(path); missing != nil {
		note("no schedule: %v", err)
		return
	}
	note("schedule: %s", path)
	line, err := shrinkFile(path, &shrinkFlags{For: f.Shrink, Jobs: runtime.NumCPU()})
	if err != nil {
		line = err.Error()
	}
	note("%s", line)
}
