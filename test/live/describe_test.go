//go:build live

package live

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// describe returns what `stet cluster describe` prints of the cluster, asked of a node, which may
// have to wait for an election.
func (c *Cluster) describe(t *testing.T, node int) string {
	t.Helper()
	var out []byte
	require.Eventually(t, func() (ok bool) {
		command := exec.Command("ip", "netns", "exec", c.hub,
			"bin/stet", "cluster", "describe", "--bootstrap", c.Nodes[node-1].Address)
		command.Dir = repository
		var err error
		out, err = command.CombinedOutput()
		return err == nil
	}, recoverTimeout, 100*time.Millisecond, "%s", &out)
	return string(out)
}

// directoryOf finds the directory id of a controller in what describe returned.
func directoryOf(t *testing.T, described string, node int) string {
	t.Helper()
	line := regexp.MustCompile(fmt.Sprintf(`controller=%d .*directory=(\S{22})`, node))
	found := line.FindStringSubmatch(described)
	require.NotNil(t, found, described)
	return found[1]
}

// TestClusterIsDescribed looks at a cluster as its operator does.
func TestClusterIsDescribed(t *testing.T) {
	cluster, _ := formed(t)
	text := cluster.describe(t, 2)
	require.Regexp(t, `^cluster=\S{22} brokers=3 voters=3 leader=[123] leaderEpoch=\d+ highWatermark=\d+\n`, text)
	for i, b := range cluster.Nodes {
		require.Contains(t, text, fmt.Sprintf("broker=%d addr=%s fenced=false\n", i+1, b.Address))
		require.Regexp(t, fmt.Sprintf(`controller=%d role=(leader|voter) addr=%s:9093 directory=\S{22} logEndOffset=\d+ lag=\d+\n`,
			i+1, regexp.QuoteMeta(cluster.Host(i+1))), text)
	}
	require.NoError(t, cluster.Stop())
	for _, b := range cluster.Nodes {
		dumped := dumpMetadata(t, b)
		require.Len(t, regexp.MustCompile(`record=VoterRecord `).FindAllString(dumped, -1), clusterSize)
		require.Contains(t, dumped, "record=BrokerRecord ")
		require.Regexp(t, `voters="\[\d+ \d+ \d+\]"`, dumped)
	}
}

// dumpMetadata returns what the dump command prints of a stopped controller's files; anything that
// is not valid fails the test.
func dumpMetadata(t *testing.T, b *Broker) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(b.Dir, "stet", "raft", "*-*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	command := exec.Command("bin/stet", append([]string{"dump", "metadata"}, files...)...)
	command.Dir = repository
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
