//go:build live

package live

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/bench/load"
)

const repository = "../.."

var (
	brokerCommand = flag.String("broker",
		"bin/stet serve --data-dir {dir} --listen 127.0.0.1:{port}", "command with {dir} and {port}")
	dataRoot = flag.String("data", "", "where brokers keep their data; empty is the temporary directory")
)

// newBroker prepares a broker with data of its own, which goes when the test passes.
func newBroker(t *testing.T) *Broker {
	t.Helper()
	dir, err := os.MkdirTemp(*dataRoot, "live")
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("data and log of the broker are in %s", dir)
			return
		}
		require.NoError(t, os.RemoveAll(dir))
	})
	b, err := NewBroker(repository, *brokerCommand, filepath.Join(dir, "data"))
	require.NoError(t, err)
	return b
}

// startBroker runs a broker until the test ends.
func startBroker(t *testing.T) *Broker {
	t.Helper()
	b := newBroker(t)
	require.NoError(t, b.Start())
	t.Cleanup(func() { require.NoError(t, b.Stop()) })
	return b
}

// dial opens a raw connection that closes with the test.
func dial(t *testing.T, b *Broker) *load.Conn {
	t.Helper()
	c, err := load.Dial(b.Address)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// createTopic makes a topic and waits until it can be used.
func createTopic(t *testing.T, b *Broker, name string, partitions int, configs map[string]string) {
	t.Helper()
	require.NoError(t, load.CreateTopic(dial(t, b), name, partitions, configs))
}

// needCommand fails the test when a program is missing: a check that cannot run has not passed.
func needCommand(t *testing.T, name string) {
	t.Helper()
	_, err := exec.LookPath(name)
	require.NoError(t, err)
}
