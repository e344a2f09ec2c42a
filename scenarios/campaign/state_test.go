package campaign

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
)

var thisBuild = Identity{Commit: "6db4d87", Binary: "9f86d081884c7d65"}

func open(t *testing.T, path string, id Identity) *State {
	t.Helper()
	s, err := OpenState(path, id)
	require.NoError(t, err)
	return s
}

func TestACampaignGoesOnWhereItWasStopped(t *testing.T) {
	whole, err := fake(t, "fails", 1, 30).Run(context.Background())
	require.NoError(t, err)

	path := filepath.Join(t.TempDir(), "state")
	ctx, cancel := context.WithCancel(context.Background())
	c := fake(t, "fails", 1, 30)
	c.State = open(t, path, thisBuild)
	c.Ended = func(s *Summary, _ *scenarios.Result) {
		if s.Runs() == 17 {
			cancel()
		}
	}
	stopped, err := c.Run(ctx)
	require.NoError(t, err)
	require.NoError(t, c.State.Close())
	require.GreaterOrEqual(t, stopped.Runs(), int64(17))
	require.Less(t, stopped.Runs(), int64(60))

	// The machine dies while a line is being written: that run is done again.
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, content[:len(content)-9], 0o600))

	c = fake(t, "fails", 1, 30)
	c.State = open(t, path, thisBuild)
	resumed, err := c.Run(context.Background())
	require.NoError(t, err)
	require.NoError(t, c.State.Close())
	require.Equal(t, stopped.Runs()-1, resumed.Resumed)
	require.Equal(t, whole.Totals, resumed.Totals)
	require.Equal(t, whole.Scenarios, resumed.Scenarios)
	require.Equal(t, whole.Classes, resumed.Classes)

	// All is done: no worker is started, and seeds that are not asked for do not count.
	c = fake(t, "refuses", 11, 20)
	c.State = open(t, path, thisBuild)
	defer c.State.Close()
	part, err := c.Run(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 20, part.Runs())
	require.EqualValues(t, 20, part.Resumed)
	require.Contains(t, part.Line(), "seeds_per_s=0.0")
}

func TestTheStateOfAnotherBuildIsRefusedByName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, open(t, path, thisBuild).Close())
	for _, other := range []Identity{
		{Commit: "0000000", Binary: thisBuild.Binary},
		{Commit: thisBuild.Commit, Binary: "1111111111111111"},
		{Commit: thisBuild.Commit, Binary: thisBuild.Binary, Canary: "48"},
		{Commit: thisBuild.Commit, Binary: thisBuild.Binary, Calm: true},
	} {
		_, err := OpenState(path, other)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, thisBuild.String())
		require.ErrorContains(t, err, other.String())
	}
}

func TestAStateThatCannotBeTrustedIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	s := open(t, path, thisBuild)
	_, err := OpenState(path, thisBuild)
	require.ErrorContains(t, err, "another campaign has it open")
	require.NoError(t, s.add(&scenarios.Result{Scenario: "disk-faults", Seed: 1}))
	require.NoError(t, s.add(&scenarios.Result{Scenario: "disk-faults", Seed: 2}))
	require.NoError(t, s.Close())

	content, err := os.ReadFile(path)
	require.NoError(t, err)
	damaged := bytes.Replace(content, []byte(`"Seed":1`), []byte(`"Seed"%1`), 1)
	require.NoError(t, os.WriteFile(path, damaged, 0o600))
	_, err = OpenState(path, thisBuild)
	require.ErrorContains(t, err, "is damaged")

	for _, text := range []string{"a note to myself", "a note\nto myself\n", "{}\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err = OpenState(path, thisBuild)
		require.ErrorContains(t, err, "no state of a campaign", text)
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(kept), "a foreign file is left alone")
	}
}

func TestThisBuildKnowsItsExecutable(t *testing.T) {
	id, err := ThisBuild("48", true)
	require.NoError(t, err)
	require.Len(t, id.Binary, 16)
	require.Contains(t, id.String(), "canary 48, calm")
}
