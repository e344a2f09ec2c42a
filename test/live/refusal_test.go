//go:build live

package live

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// requireRefusal runs a node that has to end with exit code 1 and one line that says why.
func requireRefusal(t *testing.T, b *Broker, why string) {
	t.Helper()
	code, line, err := b.Refusal()
	require.NoError(t, err)
	require.Equal(t, 1, code, line)
	require.Regexp(t, why, line)
	t.Log(line)
}

// formed returns a cluster that has formed and runs, with its marker of what is there.
func formed(t *testing.T) (*Cluster, func()) {
	t.Helper()
	cluster := newCluster(t, clusterSize)
	marker := &creator{clients: cluster.clients(t), ledger: newLedger()}
	require.NoError(t, cluster.Launch())
	stands := func() {
		t.Helper()
		requireRecovered(t, marker.clients, marker, []*ledger{marker.ledger})
	}
	stands()
	return cluster, stands
}

// TestClusterRefusesDirectoriesThatAreNotItsOwn tries directories that do not belong where they are
// used. Each has to be refused in one line, and the cluster has to stand as before.
func TestClusterRefusesDirectoriesThatAreNotItsOwn(t *testing.T) {
	cluster, stands := formed(t)
	require.NoError(t, cluster.Stop())
	first := cluster.Nodes[0]

	wrongNode, err := cluster.Nodes[1].copyOf(first, "wrong-node")
	require.NoError(t, err)
	requireRefusal(t, wrongNode, `node 1, this is node 2|of node 1`)

	newerLog, err := first.copyOf(first, "newer-log")
	require.NoError(t, err)
	require.NoError(t, newerLog.overwrite("stet/raft/log-*", 8, 99, 0, 0, 0))
	requireRefusal(t, newerLog, `raft log of version 99, of a newer release`)

	newerMeta, err := first.copyOf(first, "newer-meta")
	require.NoError(t, err)
	require.NoError(t, newerMeta.edit("meta.properties", "version=1", "version=2"))
	requireRefusal(t, newerMeta, `meta\.properties.*version`)

	otherLog, err := first.copyOf(first, "other-log")
	require.NoError(t, err)
	raft := filepath.Join("stet", "raft")
	require.NoError(t, os.RemoveAll(filepath.Join(otherLog.Dir, raft)))
	require.NoError(t, os.CopyFS(filepath.Join(otherLog.Dir, raft),
		os.DirFS(filepath.Join(cluster.Nodes[1].Dir, raft))))
	requireRefusal(t, otherLog, `the raft log is of another directory`)

	require.NoError(t, cluster.Launch())
	stands()
}

// TestClusterRefusesBrokersThatAreNotItsOwn lets brokers register that must not: of another cluster,
// and under an id that is in use.
func TestClusterRefusesBrokersThatAreNotItsOwn(t *testing.T) {
	cluster, stands := formed(t)
	third := cluster.Nodes[2]
	elsewhere := []string{"--node-id 3", "--node-id 4", ":9092", ":9192", "--controllers ", "--roles broker --controllers "}

	// A cluster of its own first, in the same directory.
	alone := third.variant("stranger", "--node-id 3", "--node-id 4", ":9092", ":9192")
	alone.Address = strings.Replace(third.Address, ":9092", ":9192", 1)
	alone.command = alone.command[:strings.Index(alone.command, "--controllers")]
	require.NoError(t, alone.Start())
	require.NoError(t, alone.Stop())
	stranger := third.variant("stranger", elsewhere...)
	requireRefusal(t, stranger, `cluster`)

	elsewhere[1] = "--node-id 2"
	requireRefusal(t, third.variant("double", elsewhere...), `another broker with node id 2 is alive`)

	requireRefusal(t, &Broker{
		Dir: third.Dir, LogFile: third.LogFile + ".second", root: third.root,
		command: third.command,
	}, `lock|in use`)
	stands()
}

// TestClusterDoesNotFormWhileListsDiffer starts controllers that do not agree on who they are, and
// corrects that.
func TestClusterDoesNotFormWhileListsDiffer(t *testing.T) {
	cluster := newCluster(t, clusterSize)
	right := cluster.Nodes[2].command
	cluster.Nodes[2].command = strings.Replace(right, "2@", "5@", 1)
	require.NoError(t, cluster.Launch())
	require.Eventually(t, func() bool {
		return cluster.logged(1, "lists the controllers")
	}, refusalTimeout, 50*time.Millisecond)
	time.Sleep(2 * time.Second)
	for i, b := range cluster.Nodes {
		require.NotContains(t, readLog(t, b), "listening", "node %d", i+1)
	}
	require.NoError(t, cluster.kill(3))
	cluster.Nodes[2].command = right
	require.NoError(t, cluster.Launch())
	marker := &creator{clients: cluster.clients(t), ledger: newLedger()}
	requireRecovered(t, marker.clients, marker, []*ledger{marker.ledger})
	require.NoError(t, cluster.Stop())
}

// TestClusterTakesBackAVoterThatLostItsDirectory wipes one of three. It must not vote as who it was:
// it comes back as another voter, in place of the old one; without automatic joining it waits.
func TestClusterTakesBackAVoterThatLostItsDirectory(t *testing.T) {
	cluster, stands := formed(t)
	for _, node := range []int{1, 3} {
		before := cluster.describe(t, 2)
		require.NoError(t, cluster.kill(node))
		b := cluster.Nodes[node-1]
		require.NoError(t, os.RemoveAll(b.Dir))

		joins := b.command
		b.command += " --set controller.quorum.auto.join.enable=false"
		require.NoError(t, b.Launch())
		require.Eventually(t, func() bool {
			return cluster.logged(node, "waits to be added")
		}, refusalTimeout, 50*time.Millisecond)
		require.Contains(t, cluster.describe(t, 2), "voters=3")
		require.NoError(t, b.Kill())

		b.command = joins
		require.NoError(t, b.Launch())
		stands()
		old := directoryOf(t, before, node)
		require.Eventually(t, func() bool {
			now := cluster.describe(t, 2)
			return strings.Contains(now, "voters=3 ") && !strings.Contains(now, old) &&
				strings.Contains(now, fmt.Sprintf("controller=%d role=", node)) && !strings.Contains(now, "observer")
		}, recoverTimeout, 100*time.Millisecond)
		t.Logf("node %d was %s, is %s", node, old, directoryOf(t, cluster.describe(t, 2), node))
	}
	require.NoError(t, cluster.Stop())
}

func (c *Cluster) logged(node int, text string) bool {
	log, err := os.ReadFile(c.Nodes[node-1].LogFile)
	return err == nil && strings.Contains(string(log), text)
}

func readLog(t *testing.T, b *Broker) string {
	t.Helper()
	log, err := os.ReadFile(b.LogFile)
	require.NoError(t, err)
	return string(log)
}

// TestClusterRefusesAVoterThatWasRolledBack restores an older copy of a voter's directory: the voter
// would have forgotten what it had acknowledged. It has to end, and to come back only without the
// directory, as another voter.
func TestClusterRefusesAVoterThatWasRolledBack(t *testing.T) {
	cluster, stands := formed(t)
	third := cluster.Nodes[2]
	require.NoError(t, third.Stop())
	old := third.Dir + "-old"
	require.NoError(t, os.CopyFS(old, os.DirFS(third.Dir)))
	require.NoError(t, third.Launch())
	stands()
	hasAll := regexp.MustCompile(`controller=3 .* lag=0\n`)
	require.Eventually(t, func() bool {
		return hasAll.MatchString(cluster.describe(t, 2))
	}, recoverTimeout, 50*time.Millisecond, "the voter has acknowledged what was decided since")
	require.NoError(t, third.Kill())
	require.NoError(t, os.RemoveAll(third.Dir))
	require.NoError(t, os.Rename(old, third.Dir))
	requireRefusal(t, third, `this voter has forgotten what it had acknowledged`)

	require.NoError(t, os.RemoveAll(third.Dir))
	require.NoError(t, cluster.Launch())
	stands()
	require.NoError(t, cluster.Stop())
}

// TestClusterRefusesAControllerOfAnotherCluster puts the directory of a voter of another cluster, with
// the same nodes, into a cluster. The two others have a majority, and go on without it.
func TestClusterRefusesAControllerOfAnotherCluster(t *testing.T) {
	cluster := newCluster(t, clusterSize)
	for _, life := range []string{"-first", "-second"} {
		require.NoError(t, cluster.Launch())
		marker := &creator{clients: cluster.clients(t), ledger: newLedger()}
		requireRecovered(t, marker.clients, marker, []*ledger{marker.ledger})
		require.NoError(t, cluster.Stop())
		for _, b := range cluster.Nodes {
			require.NoError(t, os.Rename(b.Dir, b.Dir+life))
		}
	}
	for i, life := range []string{"-first", "-first", "-second"} {
		b := cluster.Nodes[i]
		require.NoError(t, os.Rename(b.Dir+life, b.Dir))
		if life == "-first" {
			require.NoError(t, b.Launch())
		}
	}
	requireRefusal(t, cluster.Nodes[2], `node3 is of cluster \S{22}, the controller of \S{22}`)
	require.Contains(t, cluster.describe(t, 1), "broker=2 ")
	require.NoError(t, cluster.Stop())
}
