package campaign

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Report is what the files of a campaign are written from.
type Report struct {
	*Summary
	Canary                  string // bugs put back
	MarksCount, FloorsCount bool   // missed ones fail the campaign
	ExitCode                int
}

// The files that Write writes.
const (
	jsonName  = "campaign.json"
	junitName = "junit.xml"
	pageName  = "index.html"
)

// Write writes the files to a directory, which is made if need be.
func (r *Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for name, write := range map[string]func(io.Writer) error{
		jsonName: r.writeJSON, junitName: r.writeJUnit, pageName: r.writePage,
	} {
		if err := writeFile(filepath.Join(dir, name), write); err != nil {
			return fmt.Errorf("report: %s: %w", name, err)
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// campaignJSON is the form of campaign.json.
type campaignJSON struct {
	Line        string
	Commit      string
	Go          string
	Arch        string
	Canary      string `json:",omitempty"`
	Seeds       string
	Shard       string `json:",omitempty"`
	Runs        int64
	Total       int64
	Resumed     int64
	WallSeconds float64
	ExitCode    int
	Scenarios   []scenarioJSON
	Classes     []classJSON
	Floors      []Floor
	MissedMarks []string
}

type scenarioJSON struct {
	*ScenarioTotals
	P50Milliseconds, P95Milliseconds, MaxMilliseconds int64
}

type classJSON struct {
	*Class
	Replay string
}

func (r *Report) writeJSON(w io.Writer) error {
	out := campaignJSON{
		Line: r.Line(), Commit: commit(), Go: runtime.Version(), Arch: runtime.GOARCH,
		Canary: r.Canary, Seeds: r.Seeds.String(), Shard: r.Shard.String(), Runs: r.Runs(),
		Total: r.Total, Resumed: r.Resumed, WallSeconds: r.Wall.Seconds(), ExitCode: r.ExitCode,
		Floors: r.Floors(), MissedMarks: r.MissedMarks(),
	}
	for _, t := range r.Scenarios {
		out.Scenarios = append(out.Scenarios, scenarioJSON{
			t, t.Percentile(50).Milliseconds(), t.Percentile(95).Milliseconds(),
			t.Percentile(100).Milliseconds(),
		})
	}
	for _, c := range r.Classes {
		out.Classes = append(out.Classes, classJSON{c, c.ReplayCommand(r.Canary)})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

// missed lists the marks and floors that fail the campaign.
func (r *Report) missed() (marks, floors []string) {
	if r.MarksCount {
		marks = r.MissedMarks()
	}
	if r.FloorsCount {
		for _, f := range r.MissedFloors() {
			floors = append(floors, f.Scenario+": "+f.Text)
		}
	}
	return marks, floors
}
