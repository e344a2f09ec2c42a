//go:build canary

package controller

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

// TestMain switches the canary named by STET_CANARY on, so that a person can see which tests of
// this package it kills: STET_CANARY=37 go test -tags canary ./core/controller
func TestMain(m *testing.M) {
	if name := os.Getenv("STET_CANARY"); name != "" && !invariant.SetCanary(name) {
		panic("no canary " + name)
	}
	os.Exit(m.Run())
}

func TestTheRigFindsTheBugsOfTheController(t *testing.T) {
	if os.Getenv("STET_CANARY") != "" {
		t.Skip("one is switched on")
	}
	for canary, test := range map[string]string{
		"34": "TestAcknowledgedMetadataStandsWhateverHappens",
		"37": "TestLeaderThatWasPausedAnswersNothingOfThePast",
		"38": "TestBrokersThatFallSilentTogetherDoNotInheritFromEachOther",
		"39": "TestAcknowledgedMetadataStandsWhateverHappens",
		"41": "TestEveryControllerKnowsTheLeader",
	} {
		for _, id := range []string{"", canary} {
			run := exec.Command(os.Args[0], "-test.short", "-test.run=^"+test+"$")
			run.Env = append(os.Environ(), "STET_CANARY="+id)
			out, err := run.CombinedOutput()
			require.Equal(t, id != "", err != nil, "%s with canary %q: %s", test, id, out)
			require.NotContains(t, string(out), "no canary")
		}
	}
}
