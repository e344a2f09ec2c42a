package campaign

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
)

// written runs a campaign that fails, and returns its files.
func written(t *testing.T, change func(*Summary)) (s *Summary, files map[string]string) {
	t.Helper()
	s, err := fake(t, "fails", 1, 60).Run(context.Background())
	require.NoError(t, err)
	change(s)
	dir := filepath.Join(t.TempDir(), "a", "b")
	r := &Report{Summary: s, Canary: "48", MarksCount: true, FloorsCount: true, ExitCode: s.ExitCode(true, true)}
	require.NoError(t, r.Write(dir))
	files = map[string]string{}
	for _, name := range []string{jsonName, junitName, pageName} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		files[name] = string(content)
	}
	return s, files
}

func TestTheJSONHasTheClassesWithTheirReplay(t *testing.T) {
	s, files := written(t, func(*Summary) {})
	var got campaignJSON
	require.NoError(t, json.Unmarshal([]byte(files[jsonName]), &got))
	require.Equal(t, s.Line(), got.Line)
	require.Equal(t, scenarios.ExitSafety, got.ExitCode)
	require.EqualValues(t, 120, got.Runs)
	require.Len(t, got.Classes, 1)
	require.EqualValues(t, 30, got.Classes[0].Count)
	require.EqualValues(t, 1, got.Classes[0].First.Seed)
	require.Equal(t, "stet sim run --scenario disk-faults --seed 0x1 --canary 48", got.Classes[0].Replay)
	require.Len(t, got.Scenarios, 2)
	require.EqualValues(t, 60, got.Scenarios[0].Marks["a segment is rolled"])
	require.EqualValues(t, 57, got.Scenarios[1].P95Milliseconds)
	require.Contains(t, got.MissedMarks, "recovery cuts a torn tail")
	require.NotEmpty(t, got.Floors)
}

func TestJUnitHasACaseForEachScenarioAndClass(t *testing.T) {
	_, files := written(t, func(s *Summary) {
		s.Classes[0].First.Evidence = append(s.Classes[0].First.Evidence, "bytes \x00\x1b <&> \xff")
	})
	var got junitSuites
	require.NoError(t, xml.Unmarshal([]byte(files[junitName]), &got))
	suite := got.Suites[0]
	require.Equal(t, 5, suite.Tests) // two scenarios, a class, marks, floors
	require.Equal(t, 5, suite.Failures)
	require.Equal(t, "single-node-kill", suite.Cases[0].Name)
	require.Equal(t, "15 of 60 runs failed", suite.Cases[0].Failure.Message)
	require.Equal(t, "S1", suite.Cases[2].Failure.Type)
	require.Contains(t, suite.Cases[2].Failure.Text, "replay: stet sim run --scenario disk-faults --seed 0x1")
	require.Contains(t, suite.Cases[3].Failure.Text, "recovery cuts a torn tail")
	require.Contains(t, suite.Cases[4].Failure.Text, "single-node-kill: ")
}

func TestThePageIsWholeAndSafe(t *testing.T) {
	s, files := written(t, func(s *Summary) {
		s.Classes[0].Signature = `<script>alert("x")</script>`
		s.Classes[0].Notes = []string{"shrunk to 3 faults"}
	})
	page := files[pageName]
	require.NotContains(t, page, "<script")
	for _, outside := range []string{"http:", "https:", "src=", "@import", "url("} {
		require.NotContains(t, page, outside, "the page needs nothing else")
	}
	for _, part := range []string{
		s.Line(), "stet sim run --scenario disk-faults --seed 0x1 --canary 48", "shrunk to 3 faults",
		"<td>a segment is rolled<td>60<td>60<td>120", `<td class="bad">recovery cuts a torn tail<td>0<td>0<td>0`,
		"<td>checked.H1<td>180<td>180<td>360", "recovered to 1 after power loss", "p95 ms",
		"antecedents at zero",
	} {
		require.Contains(t, page, part)
	}
	require.True(t, strings.HasSuffix(page, "</html>\n"))
}

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	r := &Report{Summary: newSummary(&Campaign{Seeds: Seeds{1, 1}})}
	require.ErrorContains(t, r.Write(filepath.Join(file, "dir")), "not a directory")
}
