package scenarios

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"

	"stet/node/recording"
	"stet/scenarios/schedule"
	"stet/sim"
)

// stetVersion stands in the header of traces.
const stetVersion = "dev"

// commit is the revision that the binary was built from, with "+changes" behind it if there were any,
// "" if it does not know.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			revision += "+changes"
		}
	}
	return revision
}

// CompareTraces compares two files of traces line by line, but for their headers. It returns ""
// if they are equal, else the first line that differs, from both sides.
func CompareTraces(first, second string) (string, error) {
	a, err := os.Open(first)
	if err != nil {
		return "", err
	}
	defer a.Close()
	b, err := os.Open(second)
	if err != nil {
		return "", err
	}
	defer b.Close()
	d, differ, err := sim.FirstDivergence(a, b)
	if err != nil || !differ {
		return "", err
	}
	return "first divergent event, " + d.String(), nil
}

// FileKind says what a file that can be replayed is: "trace", "schedule" or "record".
func FileKind(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if schedule.Is(line) {
		return "schedule", nil
	}
	var h sim.Header
	if json.Unmarshal(line, &h) == nil && h.Scenario != "" {
		return "trace", nil
	}
	if recording.Is(line) {
		return "record", nil
	}
	return "", errors.New("the first line is no header of a trace, a schedule or a recording: give a whole file")
}

// ReplayTrace runs the seed of a trace again and compares event by event. The result is that of the
// second run, or of nondeterminism.
func ReplayTrace(path string) (*Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var h sim.Header
	if err := json.NewDecoder(f).Decode(&h); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	scenario, _ := Find(h.Scenario)
	seed, err := strconv.ParseUint(h.Seed, 0, 64)
	if scenario == nil || err != nil {
		return nil, fmt.Errorf("scenario %q seed %q: this build does not know them", h.Scenario, h.Seed)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	done := make(chan *Result, 1)
	go func() {
		w := bufio.NewWriterSize(writer, 1<<16)
		r := Run(scenario, seed, Options{Trace: w})
		w.Flush()
		writer.Close()
		done <- r
	}()
	d, differ, err := sim.FirstDivergence(f, reader)
	if err != nil {
		return nil, err
	}
	_, _ = io.Copy(io.Discard, reader)
	r := <-done
	if differ {
		r.Check = Nondeterminism
		r.Evidence = append(r.Evidence, "first divergent event, "+d.String())
	}
	return r, nil
}
