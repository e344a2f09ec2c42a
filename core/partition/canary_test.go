//go:build canary

package partition_test

import (
	"os"
	"testing"

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
