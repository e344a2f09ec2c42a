//go:build canary

package broker

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
)

// TestMain switches the canary named by STET_CANARY on, so that a person can see which tests of
// this package it kills: STET_CANARY=43 go test -tags canary ./core/broker
func TestMain(m *testing.M) {
	if name := os.Getenv("STET_CANARY"); name != "" && !invariant.SetCanary(name) {
		panic("no canary " + name)
	}
	os.Exit(m.Run())
}

func TestEveryCanaryOfTheBrokerIsSeen(t *testing.T) {
	for id, test := range map[string]string{
		"7":  "^TestFetchThatWaitsInAFormerEpochIsFenced$",
		"43": "^TestNothingIsDeletedByHalfAnImage$",
		"44": "^TestScripts$/^strays$",
	} {
		for _, canary := range []string{"", id} {
			run := exec.Command(os.Args[0], "-test.run", test)
			run.Env = append(os.Environ(), "STET_CANARY="+canary)
			out, err := run.CombinedOutput()
			require.Equal(t, canary != "", err != nil, "%s with canary %q: %s", test, canary, out)
		}
	}
}
