package campaign

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"stet/scenarios"
)

// JUnit's form, as far as the readers of it agree: a suite of cases, each with at most one failure.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Time     string      `xml:"time,attr"` // seconds
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a case for each scenario and each class of failures, and one for the marks.
func (r *Report) writeJUnit(w io.Writer) error {
	suite := junitSuite{Name: "stet sim campaign " + r.Name, Time: seconds(r.Wall)}
	for _, t := range r.Scenarios {
		suite.add(junitCase{"scenario", t.Scenario, seconds(t.Busy), r.scenarioFailure(t)})
	}
	for _, c := range r.Classes {
		suite.add(junitCase{"failure", c.ID, seconds(c.First.Wall), r.classFailure(c)})
	}
	marks, floors := r.missed()
	suite.add(junitCase{"coverage", "marks", seconds(0), listFailure("marks never reached", marks)})
	suite.add(junitCase{"coverage", "floors", seconds(0), listFailure("floors missed", floors)})
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{Suites: []junitSuite{suite}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	s.Cases = append(s.Cases, c)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func (r *Report) scenarioFailure(t *ScenarioTotals) *junitFailure {
	if t.Failed == 0 {
		return nil
	}
	var lines []string
	for _, c := range r.classesOf(t.Scenario) {
		lines = append(lines, c.Line())
	}
	return &junitFailure{
		fmt.Sprintf("%d of %d runs failed", t.Failed, t.Runs()), "runs", strings.Join(lines, "\n"),
	}
}

func (r *Report) classFailure(c *Class) *junitFailure {
	lines := append([]string{"replay: " + c.ReplayCommand(r.Canary), c.First.Line()}, c.Notes...)
	lines = append(lines, c.First.Evidence...)
	return &junitFailure{c.Line(), string(c.Check), strings.Join(lines, "\n")}
}

func listFailure(what string, missed []string) *junitFailure {
	if len(missed) == 0 {
		return nil
	}
	return &junitFailure{
		fmt.Sprintf("%d %s", len(missed), what), string(scenarios.MarkMissed), strings.Join(missed, "\n"),
	}
}
