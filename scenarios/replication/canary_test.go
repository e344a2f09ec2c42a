//go:build canary

package replication

import (
	"os"
	"testing"

	"stet/core/invariant"
)

// TestMain switches the canary named by STET_CANARY on, so that a person can see what is made of it:
// STET_CANARY=1 go test -tags canary ./scenarios/replication -run EverySmallSchedule
func TestMain(m *testing.M) {
	if name := os.Getenv("STET_CANARY"); name != "" && !invariant.SetCanary(name) {
		panic("no canary " + name)
	}
	os.Exit(m.Run())
}
