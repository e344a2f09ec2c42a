package regress

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/scenarios"
	"stet/scenarios/schedule"
)

// drawn makes choices that rapid draws, and makes smaller when something fails.
type drawn struct{ *rapid.T }

func (d drawn) upTo(n int, what string) int { return rapid.IntRange(0, n).Draw(d.T, what) }

// bytes makes choices that the bytes of a fuzzer decide, one each; when they are at their end, all
// choices are 0.
type bytes struct{ left []byte }

func (b *bytes) upTo(n int, _ string) int {
	if len(b.left) == 0 {
		return 0
	}
	v := int(b.left[0])
	b.left = b.left[1:]
	if n > 255 {
		v *= n / 255
	}
	return v % (n + 1)
}

// mostEvents bounds a run: small schedules need a few thousand, and one that never ends is told from
// that too.
const mostEvents = 200_000

// passes runs a schedule through its text, and fails with it.
func passes(t require.TestingT, s *schedule.Schedule) {
	back, err := schedule.Parse(strings.NewReader(s.String()))
	require.NoError(t, err, s)
	scenario, _ := scenarios.Find(s.Scenario)
	r := scenarios.Run(scenario, s.Seed, scenarios.Options{Schedule: back, MaxEvents: mostEvents})
	if r.Check != scenarios.Passed {
		t.Errorf("%s\n%s\n%s", strings.Join(r.Evidence, "\n"), r.Line(), s)
		t.FailNow()
	}
}

// TestEverySmallSchedulePasses has rapid make schedules.
func TestEverySmallSchedulePasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { passes(t, generate(drawn{t})) })
}

// FuzzSchedule has the fuzzer make schedules, led by what the code under test comes through.
func FuzzSchedule(f *testing.F) {
	f.Add([]byte{})
	for kind := range kinds {
		for fill := byte(1); fill < 250; fill += 83 {
			seed := []byte{byte(kind)}
			for i := range 120 {
				seed = append(seed, fill*byte(i+1))
			}
			f.Add(seed)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { passes(t, generate(&bytes{data})) })
}
