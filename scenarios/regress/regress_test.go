package regress

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
	"stet/scenarios/schedule"
)

// schedules reads all schedules, by the names of their files.
func schedules(t *testing.T) map[string]*schedule.Schedule {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.schedule")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	all := map[string]*schedule.Schedule{}
	for _, path := range paths {
		s, err := schedule.ReadFile(path)
		require.NoError(t, err)
		require.NotEmpty(t, s.Fails, "%s: what it failed once", path)
		all[filepath.Base(path)] = s
	}
	return all
}

// rerun runs a schedule and judges it, until a check fails, if one is named.
func rerun(t *testing.T, s *schedule.Schedule, until scenarios.Check) *scenarios.Result {
	t.Helper()
	scenario, _ := scenarios.Find(s.Scenario)
	require.NotNil(t, scenario)
	return scenarios.Run(scenario, s.Seed, scenarios.Options{Schedule: s, Until: until})
}

// TestWhatFailedOncePasses runs every schedule.
func TestWhatFailedOncePasses(t *testing.T) {
	for name, s := range schedules(t) {
		t.Run(name, func(t *testing.T) {
			r := rerun(t, s, scenarios.Passed)
			require.Equal(t, scenarios.Passed, r.Check, "%v\n%s", r.Evidence, r.Line())
			require.Empty(t, r.Missed, "every fault of it still comes")
		})
	}
}
