package main

import (
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"stet/scenarios"
	"stet/scenarios/campaign"
	"stet/scenarios/schedule"
)

// simWorkerCommand serves a campaign's jobs on stdin and stdout.
func simWorkerCommand() *cobra.Command {
	var canary string
	c := &cobra.Command{
		Use:    "worker",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			// What is meant for a campaign often reaches the whole group, and a run that it cut short
			// would be a crash. The campaign ends its workers itself.
			signal.Ignore(os.Interrupt, syscall.SIGTERM)
			if err := setCanaries(canary); err != nil {
				return err
			}
			if os.Getenv("GOGC") == "" { // the determinism matrix sets it
				debug.SetGCPercent(workerGCPercent)
			}
			return campaign.Work(os.Stdin, os.Stdout, runJob)
		},
	}
	c.Flags().StringVar(&canary, "canary", "", "historical bugs to put back")
	return c
}

// workerGCPercent trades memory for speed: a run is short and allocates more than it keeps.
const workerGCPercent = 400

func runJob(j campaign.Job) *scenarios.Result {
	s, _ := scenarios.Find(j.Scenario)
	o := scenarios.Options{Calm: j.Calm, Until: j.Until, MaxEvents: j.MaxEvents}
	if j.Schedule != "" {
		var err error
		if o.Schedule, err = schedule.Parse(strings.NewReader(j.Schedule)); err != nil {
			return &scenarios.Result{
				Scenario: j.Scenario, Seed: j.Seed, Check: scenarios.Panic,
				Evidence: []string{"schedule: " + err.Error()},
			}
		}
	}
	return scenarios.Run(s, j.Seed, o)
}
