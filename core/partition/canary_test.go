//go:build canary

package partition_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

// TestMain switches the canary named by STET_CANARY on, so that a person can see which tests of
// this package it kills: STET_CANARY=8 go test -tags canary ./core/partition
func TestMain(m *testing.M) {
	if name := os.Getenv("STET_CANARY"); name != "" && !invariant.SetCanary(name) {
		panic("no canary " + name)
	}
	os.Exit(m.Run())
}

// TestTheModelFindsTheCanariesOfReplication lists those that it finds within the seeds. 11 and 16 are
// rarer; 23 needs a log start that moves. Other tests of this package kill these.
func TestTheModelFindsTheCanariesOfReplication(t *testing.T) {
	finding := regexp.MustCompile(`\b(R[0-9]+|L): .*|assertion failed: .*`)
	for _, id := range []string{
		"1", "2", "3", "4", "5", "6", "8", "9", "14", "17", "18", "19", "20", "21", "22", "24",
	} {
		run := exec.Command(os.Args[0], "-test.run", "^TestReplicasKeepWhatIsCommitted$")
		run.Env = append(os.Environ(), "STET_CANARY="+id, "STET_MODEL_SEEDS=1..1000")
		out, err := run.CombinedOutput()
		require.Error(t, err, "canary %s", id)
		found := finding.Find(out)
		require.NotNil(t, found, "canary %s: %s", id, out)
		t.Logf("canary %s: %s", id, found)
	}
}
