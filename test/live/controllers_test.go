//go:build live

package live

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestClusterObeysKafkasToolsForControllers takes each of three controllers, the leader too, out of
// the quorum by kafka-metadata-quorum, and puts it back. To add a controller the tool reads the
// configuration and the data directory of the node, as Kafka would have them.
func TestClusterObeysKafkasToolsForControllers(t *testing.T) {
	needCommand(t, "java")
	cluster := newCluster(t, clusterSize)
	for _, b := range cluster.Nodes {
		b.command += " --set controller.quorum.auto.join.enable=false"
	}
	require.NoError(t, cluster.Launch())
	marker := &creator{clients: cluster.clients(t), ledger: newLedger()}
	requireRecovered(t, marker.clients, marker, []*ledger{marker.ledger})
	for node := 1; node <= clusterSize; node++ {
		id, other := directoryIn(t, cluster.Nodes[node-1]), node%clusterSize+1
		run := func(args string, wants ...string) {
			call := tool{class: "MetadataQuorumCommand", args: args, wants: wants}
			requireToolBy(t, cluster, &call, "--bootstrap-controller", cluster.controller(other))
		}
		member := fmt.Sprintf(`^CurrentVoters: .*"directoryId": "%s", "endpoints": \["CONTROLLER://%s"\]`,
			regexp.QuoteMeta(id), regexp.QuoteMeta(cluster.controller(node)))
		run(fmt.Sprintf("remove-controller --controller-id %d --controller-directory-id %s", node, id),
			fmt.Sprintf(`^Removed KRaft controller %d with directory id %s$`, node, id))
		run("describe --status", `^CurrentVoters: +\[\{[^{]*\}, \{[^{]*\}\]$`)
		config := filepath.Join(filepath.Dir(cluster.Nodes[node-1].Dir), "controller.properties")
		require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `process.roles=broker,controller
node.id=%d
listeners=PLAINTEXT://%s,CONTROLLER://%s
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=%s
log.dirs=%s
`, node, cluster.Nodes[node-1].Address, cluster.controller(node), cluster.controller(other),
			cluster.Nodes[node-1].Dir), 0o600))
		run("--command-config "+config+" add-controller",
			fmt.Sprintf(`^Added controller %d with directory id %s and endpoints: CONTROLLER://`, node, id))
		run("describe --status", member)
	}
	require.NoError(t, cluster.Stop())
}

// controller is where the controller of a node listens.
func (c *Cluster) controller(node int) string {
	return net.JoinHostPort(c.Host(node), strconv.Itoa(controllerPort))
}

// directoryIn reads the id of a node's data directory.
func directoryIn(t *testing.T, b *Broker) string {
	properties, err := os.ReadFile(filepath.Join(b.Dir, "meta.properties"))
	require.NoError(t, err)
	id := regexp.MustCompile(`(?m)^directory\.id=(\S+)$`).FindSubmatch(properties)
	require.NotNil(t, id, "%s", properties)
	return string(id[1])
}
