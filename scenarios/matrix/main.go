// Command matrix proves that a run depends on its seed alone. It builds the simulator in variants,
// runs the same seeds through each, and compares the hashes with those of the plain build. Builds
// with nondeterminism planted on purpose must be told apart, or the comparison proves nothing.
//
//	go run ./scenarios/matrix -seeds 20
//
// It prints one line for each variant and exits with 1 if a variant differs or a plant does not.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"stet/scenarios"
)

// variant is one way to build and run the simulator.
type variant struct {
	name    string
	flags   []string // of go build
	build   []string // environment of go build
	run     []string // environment of the run
	planted bool     // its hashes must differ
}

func variants() []variant {
	return []variant{
		{name: "again"},
		{name: "GOMAXPROCS=1", run: []string{"GOMAXPROCS=1"}},
		{name: "GOGC=20", run: []string{"GOGC=20"}},
		{name: "TZ=Asia/Kathmandu", run: []string{"TZ=Asia/Kathmandu"}},
		{name: "environment+8KB", run: []string{"STET_MATRIX_FILL=" + strings.Repeat("x", 8<<10)}},
		{name: "-race", flags: []string{"-race"}, build: []string{"CGO_ENABLED=1"}},
		{name: "-gcflags='all=-N -l'", flags: []string{"-gcflags=all=-N -l"}},
		{name: "GOARCH=386", build: []string{"GOARCH=386", "CGO_ENABLED=0"}},
		{name: "plant_maprange", flags: []string{"-tags=plant_maprange"}, planted: true},
		{name: "plant_clock", flags: []string{"-tags=plant_clock"}, planted: true},
		{name: "plant_random", flags: []string{"-tags=plant_random"}, planted: true},
	}
}

func main() {
	seeds := flag.Uint64("seeds", 20, "seeds of each scenario, from 1")
	only := flag.String("only", "", "variants whose names contain this")
	flag.Parse()
	ok, err := run(*seeds, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run compares all variants with the plain build and says whether each was as it must be.
func run(seeds uint64, only string) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "stet-matrix-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	m := matrix{dir: dir, jobs: jobs(seeds), built: map[string]string{}}
	if m.base, err = m.hashes(variant{}); err != nil {
		return false, fmt.Errorf("plain build: %w", err)
	}
	ok = true
	for _, v := range variants() {
		if !strings.Contains(v.name, only) {
			continue
		}
		passed, line := m.compare(v)
		fmt.Println(line)
		ok = ok && passed
	}
	return ok, nil
}

// jobs lists the runs of one variant.
func jobs(seeds uint64) []scenarios.Job {
	var out []scenarios.Job
	for _, s := range scenarios.All() {
		for seed := range seeds {
			out = append(out, scenarios.Job{Scenario: s.Name, Seed: seed + 1})
		}
	}
	return out
}

// matrix is the state of the comparison.
type matrix struct {
	dir   string
	jobs  []scenarios.Job
	base  []string          // a hash for each job
	built map[string]string // binaries by what they were built with
}

// compare runs a variant and says whether it is as it must be.
func (m *matrix) compare(v variant) (ok bool, line string) {
	got, err := m.hashes(v)
	if err != nil {
		return false, fmt.Sprintf("matrix %s: FAIL %v", v.name, err)
	}
	differ, first := 0, ""
	for i := range m.jobs {
		if got[i] == m.base[i] {
			continue
		}
		if differ++; differ == 1 {
			first = fmt.Sprintf(" first=%s/%#x hash=%s base=%s",
				m.jobs[i].Scenario, m.jobs[i].Seed, got[i], m.base[i])
		}
	}
	ok = v.planted == (differ > 0)
	outcome := "FAIL"
	if ok {
		outcome = "ok"
	}
	return ok, fmt.Sprintf("matrix %s: %s runs=%d divergent=%d%s",
		v.name, outcome, len(m.jobs), differ, first)
}

// hashes builds and runs a variant.
func (m *matrix) hashes(v variant) ([]string, error) {
	binary, err := m.build(v)
	if err != nil {
		return nil, err
	}
	return runWorker(binary, v.run, m.jobs)
}

// build returns the variant's binary; variants that differ only at run time share one.
func (m *matrix) build(v variant) (string, error) {
	key := fmt.Sprint(v.flags, v.build)
	if path := m.built[key]; path != "" {
		return path, nil
	}
	path := filepath.Join(m.dir, fmt.Sprintf("stet-%d", len(m.built)))
	args := append([]string{"build", "-o", path}, v.flags...)
	cmd := exec.Command("go", append(args, "./cmd/stet")...)
	cmd.Env = append(os.Environ(), v.build...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	m.built[key] = path
	return path, nil
}

// runWorker has one worker process run all jobs and returns their hashes.
func runWorker(binary string, environment []string, jobs []scenarios.Job) ([]string, error) {
	cmd := exec.Command(binary, "sim", "worker")
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go feed(stdin, jobs)
	hashes, err := collect(stdout, jobs)
	io.Copy(io.Discard, stdout)
	return hashes, errors.Join(err, cmd.Wait())
}

func feed(w io.WriteCloser, jobs []scenarios.Job) {
	defer w.Close()
	e := json.NewEncoder(w)
	for _, job := range jobs {
		if e.Encode(job) != nil {
			return // the worker is gone; collect will say so
		}
	}
}

// collect reads the results of jobs. How a run ended is part of what must agree.
func collect(r io.Reader, jobs []scenarios.Job) ([]string, error) {
	results := json.NewDecoder(r)
	hashes := make([]string, len(jobs))
	for i, job := range jobs {
		var res scenarios.Result
		if err := results.Decode(&res); err != nil {
			return nil, fmt.Errorf("%s/%#x: the worker ended: %w", job.Scenario, job.Seed, err)
		}
		if res.Hash == "" {
			return nil, fmt.Errorf("%s/%#x: no hash: %s", job.Scenario, job.Seed, res.Check)
		}
		hashes[i] = res.Hash + string(res.Check)
	}
	return hashes, nil
}
