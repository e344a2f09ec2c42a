package ci

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"stet/scenarios"
)

var scratch string // a directory for all tests

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "stet-ci-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		scratch = dir
		return m.Run()
	}())
}

// stet returns the path of a binary that can put bugs back.
var stet = sync.OnceValues(func() (string, error) {
	if err := noteSources(); err != nil {
		return "", err
	}
	path := filepath.Join(scratch, "stet")
	build := exec.Command("go", "build", "-tags", "canary", "-o", path, "./cmd/stet")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// noteSources looks at every file that the binary and the scripts are made of, so that the cache of
// go test knows of them. What a child process reads it does not see.
func noteSources() error {
	return filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err == nil && slices.Contains([]string{".go", ".html", ".sh", ".mod"}, filepath.Ext(path)) {
			_, err = os.Stat(path)
		}
		return err
	})
}

// run runs a command, stet or a script, and returns its output and exit code.
func run(t *testing.T, name string, args ...string) (out string, code int) {
	t.Helper()
	binary, err := stet()
	require.NoError(t, err)
	if name == "stet" {
		name = binary
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "STET="+binary)
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return string(b), cmd.ProcessState.ExitCode()
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

// result is what the tests read of campaign.json.
type result struct {
	Line      string
	ExitCode  int
	Shard     string
	Runs      int64
	Total     int64
	Scenarios []struct{ Scenario string }
	Classes   []struct {
		Check, Replay string
		First         struct {
			Scenario string
			Seed     uint64
		}
	}
	MissedMarks []string
}

// artefacts reads the directory that is uploaded.
func artefacts(t *testing.T, dir string) (r result, page string) {
	t.Helper()
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NotEmpty(t, b, name)
		return b
	}
	require.NoError(t, json.Unmarshal(read("campaign.json"), &r))
	require.NoError(t, xml.Unmarshal(read("junit.xml"), new(struct{})))
	require.Equal(t, r.Line, lastLine(string(read("campaign.txt"))))
	return r, string(read("index.html"))
}

func TestTwoShardsOfANightDivideItsSeeds(t *testing.T) {
	var runs int64
	for _, shard := range []string{"1/2", "2/2"} {
		dir := t.TempDir()
		out, code := run(t, "./simulate.sh", "nightly", "--shard", shard, "--base", "7000", "--out", dir,
			"--scenario", "single-node-kill", "--seeds", "7000..7004", "--time-budget", "1m")
		require.Zero(t, code, out)
		require.Equal(t, "simulate: ok mode=nightly exit=0 out="+dir, lastLine(out))
		r, page := artefacts(t, dir)
		require.Equal(t, shard, r.Shard)
		require.Equal(t, r.Total, r.Runs)
		require.Contains(t, r.Line, "seeds=7000..7004 ok=")
		require.Contains(t, page, "shard "+shard)
		runs += r.Runs
	}
	require.EqualValues(t, 5, runs)
}

func TestANightBeginsAtItsBaseAndStopsAtItsBudget(t *testing.T) {
	dir := t.TempDir()
	out, code := run(t, "./simulate.sh", "nightly", "--shard", "1/2", "--base", "123000000",
		"--time-budget", "500ms", "--out", dir)
	r, _ := artefacts(t, dir)
	require.Contains(t, r.Line, "scenario=all seeds=123000000..123999999 ")
	require.Positive(t, r.Runs, out)
	require.Less(t, r.Runs, r.Total)
	require.Len(t, r.Scenarios, len(scenarios.All()))
	require.NotEmpty(t, r.MissedMarks)
	require.Equal(t, 14, code, "so few seeds cannot reach all marks, and that fails")
	require.Contains(t, out, "mark never reached: "+r.MissedMarks[0])
}

func TestABugFailsAndLeavesTheSeedThatShowsIt(t *testing.T) {
	dir := t.TempDir()
	summary := filepath.Join(t.TempDir(), "summary")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	const bug = "acknowledge-before-sync"
	out, code := run(t, "./simulate.sh", "pr", "--canary", bug, "--scenario", "single-node-power-loss",
		"--seeds", "1..8", "--out="+dir)
	require.Equal(t, 10, code, out)
	require.Equal(t, "simulate: FAILED mode=pr exit=10 out="+dir, lastLine(out))
	r, page := artefacts(t, dir)
	require.Equal(t, 10, r.ExitCode)
	require.NotEmpty(t, r.Classes)
	worst := r.Classes[0]
	require.Equal(t, "single-node-power-loss", worst.First.Scenario)
	require.Contains(t, out, "replay: "+worst.Replay)
	require.Contains(t, page, worst.Replay)
	b, err := os.ReadFile(summary)
	require.NoError(t, err)
	require.Contains(t, string(b), "\nclass ")
	require.Contains(t, string(b), "replay: "+worst.Replay)
	require.Contains(t, string(b), "\n"+r.Line)

	// The command in the artefact shows the same failure.
	command := strings.Fields(worst.Replay)
	out, code = run(t, command[0], command[1:]...)
	require.Equal(t, 10, code)
	require.Contains(t, lastLine(out), "FAIL "+worst.Check+" ")
}

func TestAWrongModeIsRefused(t *testing.T) {
	for _, args := range [][]string{nil, {"weekly"}} {
		out, code := run(t, "./simulate.sh", args...)
		require.Equal(t, 1, code)
		require.Contains(t, out, "ci/simulate.sh nightly --shard")
	}
	out, code := run(t, "./simulate.sh", "pr", "--seeds", "9..1", "--out", t.TempDir())
	require.Equal(t, 1, code)
	require.Contains(t, out, "give A..B")
}

// The workflow is thin: each of its commands is a script of this directory, and the shards that it
// starts are the shards that it names.
func TestTheWorkflowOnlyCallsTheScripts(t *testing.T) {
	b, err := os.ReadFile("../.github/workflows/simulate.yml")
	require.NoError(t, err)
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct {
					Shard    []int
					Scenario []string
				}
			}
			Steps []struct{ Run, Uses string }
		}
	}
	require.NoError(t, yaml.Unmarshal(b, &workflow))
	require.Len(t, workflow.Jobs, 2)
	for name, job := range workflow.Jobs {
		var commands, uploads int
		for _, step := range job.Steps {
			if strings.HasPrefix(step.Uses, "actions/upload-artifact@") {
				uploads++
			}
			if step.Run == "" {
				continue
			}
			commands++
			script, _, _ := strings.Cut(step.Run, " ")
			require.NotContains(t, step.Run, "\n", name)
			info, err := os.Stat(filepath.Join("..", script))
			require.NoError(t, err)
			require.NotZero(t, info.Mode()&0o100, "%s is executable", script)
		}
		require.Positive(t, commands, name)
		require.Equal(t, 1, uploads, name)
	}
	matrix := workflow.Jobs["nightly"].Strategy.Matrix
	require.Equal(t, []int{1, 2, 3, 4}, matrix.Shard)
	require.Equal(t, []string{"all", "clusters", "replication"}, matrix.Scenario)
	require.Contains(t, string(b),
		"nightly --scenario ${{ matrix.scenario }} --shard ${{ matrix.shard }}/4\n")
}
