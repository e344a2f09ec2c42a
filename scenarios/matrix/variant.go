package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"stet/scenarios"
)

// variant is one way to build and run the simulator.
type variant struct {
	name     string
	flags    []string // of go build
	build    []string // environment of go build
	run      []string // environment of the run
	reversed bool     // a process runs its last job first
	planted  bool     // two runs of it must differ; a tenth of the seeds will do
}

func variants() []variant {
	return []variant{
		{name: "again, last first", reversed: true},
		{name: "another environment", run: []string{
			"GOMAXPROCS=1", "GOGC=20", "TZ=Asia/Kathmandu",
			"STET_MATRIX_FILL=" + strings.Repeat("x", 8<<10), // 8 KB more
		}},
		{name: "-race", flags: []string{"-race"}, build: []string{"CGO_ENABLED=1"}},
		{name: "-gcflags='all=-N -l'", flags: []string{"-gcflags=all=-N -l"}},
		{name: "GOARCH=386", build: []string{"GOARCH=386", "CGO_ENABLED=0"}},
		{name: "plant_maprange", flags: []string{"-tags=plant_maprange"}, planted: true},
		{name: "plant_clock", flags: []string{"-tags=plant_clock"}, planted: true},
		{name: "plant_random", flags: []string{"-tags=plant_random"}, planted: true},
	}
}

// binary builds the variant; variants that differ only at run time share one file.
func (m *matrix) binary(v variant) (string, error) {
	key := fmt.Sprint(v.flags, v.build)
	if path := m.built[key]; path != "" {
		return path, nil
	}
	path := filepath.Join(m.dir, fmt.Sprintf("stet-%d", len(m.built)))
	args := append([]string{"build", "-o", path}, v.flags...)
	cmd := exec.Command("go", append(args, "./cmd/stet")...)
	cmd.Env = append(os.Environ(), v.build...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, strings.TrimSpace(string(out)))
	}
	m.built[key] = path
	return path, nil
}

// locate runs a job in both variants in step, and says where they first differ, or "".
func (m *matrix) locate(a, b variant, j job) (string, error) {
	var sides [2]*exec.Cmd
	for i, v := range []variant{a, b} {
		binary, err := m.binary(v)
		if err != nil {
			return "", err
		}
		sides[i] = exec.Command(binary, "sim", "run", "--scenario", j.Scenario,
			"--seed", fmt.Sprint(j.Seed), "--lockstep")
		sides[i].Env = append(os.Environ(), v.run...)
		sides[i].Stderr = os.Stderr
	}
	d, err := scenarios.Locate(sides[0], sides[1])
	if err != nil || d == nil {
		return "", err
	}
	return "first divergent event, " + d.String(), nil
}
