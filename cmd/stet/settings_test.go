package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"stet/node"
)

// serveWith runs `serve` with args and a configuration file of the given text, if any. It returns
// the error line.
func serveWith(t *testing.T, file string, args ...string) error {
	t.Helper()
	root := rootCommand()
	root.SetArgs(append([]string{"serve"}, withFile(t, file, args)...))
	return root.Execute()
}

func withFile(t *testing.T, text string, args []string) []string {
	if text == "" {
		return args
	}
	path := filepath.Join(t.TempDir(), "stet.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return append(args, "--config", path)
}

// settle returns the settings that args, the environment and a file add up to, without serving.
func settle(t *testing.T, file string, args ...string) (f serveFlags, config *node.Config) {
	t.Helper()
	c := serveCommandInto(&f)
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if err := fillSettings(c.Flags(), &f); err != nil {
			return err
		}
		config, _, err = nodeConfig(&f)
		return err
	}
	c.SetArgs(withFile(t, file, args))
	require.NoError(t, c.Execute())
	return f, config
}

func TestFlagsWinOverEnvironmentOverFileOverDefaults(t *testing.T) {
	const file = "rack: of-file\nnode-id: 7\nlisten: 127.0.0.1:7\n"
	t.Setenv("STET_RACK", "of-environment")
	t.Setenv("STET_LISTEN", "127.0.0.1:8")
	f, config := settle(t, file, "--listen", "127.0.0.1:9")
	require.Equal(t, "127.0.0.1:9", f.Listen, "flag")
	require.Equal(t, "of-environment", f.Rack, "environment")
	require.EqualValues(t, 7, f.NodeID, "file")
	require.Equal(t, "./data", f.DataDir, "default")
	require.EqualValues(t, 7, config.Controller.NodeID)
	require.Equal(t, "of-environment", config.Broker.Rack)
}

func TestEnvironmentNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stet.yaml")
	require.NoError(t, os.WriteFile(path, []byte("node-id: 7\n"), 0o600))
	t.Setenv("STET_CONFIG", path)
	f, _ := settle(t, "")
	require.EqualValues(t, 7, f.NodeID)
}

func TestKafkaNamesFollowTheSamePrecedence(t *testing.T) {
	const file = "set: {num.partitions: 2, default.replication.factor: 2, fetch.max.bytes: 2000}\n"
	t.Setenv("STET_SET", "num.partitions=3 default.replication.factor=3")
	_, config := settle(t, file, "--set", "num.partitions=4")
	require.EqualValues(t, 4, config.Broker.NumPartitions, "flag")
	require.EqualValues(t, 3, config.Broker.DefaultReplicationFactor, "environment")
	require.EqualValues(t, 2000, config.Broker.FetchMaxBytes, "file")
}

func TestDefaultsOfTopicsGoByBothNames(t *testing.T) {
	_, config := settle(t, "", "--set", "log.segment.bytes=2097152", "--set", "log.roll.ms=5000",
		"--set", "flush.messages=9")
	require.EqualValues(t, 2097152, config.Broker.Topic.SegmentBytes)
	require.EqualValues(t, 5000, config.Broker.Topic.SegmentMs)
	require.EqualValues(t, 9, config.Broker.Topic.FlushMessages)
	require.Equal(t, config.Broker.Topic, config.Controller.Topic, "obeyed is told")
}

func TestDefaultsThatNothingObeysAreRefused(t *testing.T) {
	err := serveWith(t, "", "--set", "log.retention.ms=1000", "--set", "log.cleanup.policy=compact")
	require.ErrorContains(t, err, "retention.ms")
	require.ErrorContains(t, err, "cleanup.policy")
	err = serveWith(t, "", "--set", "node.id=3", "--set", "remote.storage.enable=true")
	require.ErrorContains(t, err, "setting node.id: give it as a flag")
	require.ErrorContains(t, err, "setting remote.storage.enable: ")
}

func TestSettingsOfTheBrokerAreTheControllersToo(t *testing.T) {
	_, config := settle(t, "", "--set", "num.partitions=4", "--set", "default.replication.factor=2",
		"--set", "min.insync.replicas=3", "--set", "producer.id.expiration.ms=5000")
	require.EqualValues(t, 4, config.Controller.NumPartitions)
	require.EqualValues(t, 2, config.Controller.DefaultReplicationFactor)
	require.EqualValues(t, 3, config.Controller.Topic.MinInsyncReplicas)
	require.EqualValues(t, 5, config.Broker.ProducerExpiration.Seconds())
}

func TestAllFaultsOfSettingsAreNamedAtOnce(t *testing.T) {
	const file = "nonsense: 1\nrack: [a, b]\nset: {foo.bar: 1, num.partitions: many}\n"
	err := serveWith(t, file, "--node-id=-4", "--log-format=xml", "--set=lonely")
	require.Error(t, err)
	for _, name := range []string{
		"nonsense", "rack", "foo.bar", "num.partitions", "node-id", "log-format", "lonely",
	} {
		require.ErrorContains(t, err, name)
	}
}

func TestStartErrorsNameTheDirectoryAsItWasGiven(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("given", 0o700))
	meta := []byte("version=1\nnode.id=3\n")
	require.NoError(t, os.WriteFile("given/meta.properties", meta, 0o600))
	err := serveWith(t, "", "--data-dir", "./given", "--listen", "127.0.0.1:0", "--node-id", "1")
	require.ErrorContains(t, err, "data directory ./given: belongs to node 3, this is node 1")
}

func TestFaultsOfTheFileAreTold(t *testing.T) {
	require.ErrorContains(t, serveWith(t, "", "--config", "absent.yaml"), "absent.yaml")
	require.ErrorContains(t, serveWith(t, "node-id: 1\nnode-id: 2\n"), "node-id")
	require.ErrorContains(t, serveWith(t, "set: 5\nnonsense: 1\n"), "setting set")
	require.ErrorContains(t, serveWith(t, "set: 5\nnonsense: 1\n"), "nonsense")
}

func TestErrorsOfTheEnvironmentExitWithOne(t *testing.T) {
	require.Equal(t, exitUsage, run([]string{"serve", "--no-such-flag"}))
	require.Equal(t, exitUsage, run([]string{"no-such-command"}))
	require.Equal(t, exitUsage, run([]string{"dump", "lgo", "absent.log"}))
	require.Equal(t, exitUsage, run([]string{"sim", "rnu"}))
	require.Equal(t, exitUsage, run([]string{"dump", "log", "absent.log"}))
	require.Equal(t, exitUsage, run([]string{
		"serve", "--data-dir", t.TempDir(), "--listen", "no-port",
	}))
}
