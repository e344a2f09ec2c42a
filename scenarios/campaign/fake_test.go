package campaign

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
)

// The tests' worker is the test binary itself, which serves fakeRun if this is set.
const fakeWorker = "STET_TEST_WORKER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(fakeWorker); mode != "" {
		if mode == "refuses" {
			fmt.Fprintln(os.Stderr, "stet: canary: no such canary")
			os.Exit(scenarios.ExitUsage)
		}
		if err := Work(os.Stdin, os.Stdout, func(j Job) *scenarios.Result { return fakeRun(mode, j) }); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// badSeed is the one on which a worker does what its mode says.
const badSeed = 5

// fakeRun passes, but for what the mode says of some seeds.
func fakeRun(mode string, j Job) *scenarios.Result {
	r := &scenarios.Result{
		Scenario: j.Scenario, Seed: j.Seed, Events: 6000, Operations: 300, Acked: 100,
		Simulated: time.Second, Wall: time.Duration(j.Seed) * time.Millisecond,
		Counters: map[string]int64{"checked.H1": 3, "faults.process kill": 1},
		Marks:    map[string]uint64{"a segment is rolled": 2},
	}
	switch {
	case mode == "fails" && j.Seed%4 == 1:
		r.Check, r.Failed = "S1", []scenarios.Check{"S1", "H1"}
		r.Evidence = []string{
			fmt.Sprintf("H1: value 7.%d is gone", j.Seed),
			fmt.Sprintf("S1: orders-%d: recovered to %d after power loss, %d had to survive",
				j.Seed%3, j.Seed, 10*j.Seed),
		}
	case mode == "slow":
		time.Sleep(20 * time.Millisecond)
	case j.Seed == badSeed:
		misbehave(mode)
	}
	return r
}

func misbehave(mode string) {
	switch mode {
	case "killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "hangs":
		time.Sleep(time.Minute)
	case "panics":
		panic("assertion failed: base <= end")
	case "out of memory":
		fmt.Fprintln(os.Stderr, "fatal error: runtime: out of memory")
		os.Exit(2)
	case "babbles":
		fmt.Println("debug: here I am")
	}
}

// fake is a campaign of two scenarios with such workers.
func fake(t *testing.T, mode string, from, to uint64) *Campaign {
	t.Helper()
	t.Setenv(fakeWorker, mode)
	self, err := os.Executable()
	require.NoError(t, err)
	return &Campaign{
		Scenarios: []string{"single-node-kill", "disk-faults"}, Seeds: Seeds{from, to}, Jobs: 4,
		Worker: []string{self}, Timeout: 20 * time.Second,
	}
}
