//go:build live

package live

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tool is one call of a tool of Kafka's, and what it has to print, as regular expressions: lines
// that match all of wants, and none that matches refuses.
type tool struct {
	class   string
	args    string
	wants   []string
	refuses []string
}

// clusterTools are calls in order, against three nodes that are brokers and controllers. {node} is
// what kafka-metadata-quorum told of a voter. The expressions were written from what Apache Kafka
// 4.4.0 prints, and hold for it too.
var clusterTools = []tool{
	{
		class: "TopicCommand", args: "--create --topic tools --partitions 3 --replication-factor 3",
		wants: []string{`^Created topic tools\.$`},
	},
	{
		class: "TopicCommand", args: "--create --topic tools --partitions 3 --replication-factor 3 --if-not-exists",
		refuses: []string{`(?i)error|exception`},
	},
	{
		class: "TopicCommand", args: "--create --topic far --replication-factor 4",
		wants: []string{`^Error while executing topic command : .*[rR]eplication factor`},
	},
	{class: "TopicCommand", args: "--list", wants: []string{`^tools$`}, refuses: []string{`^far$`}},
	{class: "TopicCommand", args: "--describe --topic tools", wants: []string{
		`^Topic: tools\s+TopicId: [A-Za-z0-9_-]{22}\s+PartitionCount: 3\s+ReplicationFactor: 3\s+Configs:`,
		`^\s+Topic: tools\s+Partition: 0\s+Leader: [123]\s+Replicas: [123],[123],[123]\s+Isr: [123],[123],[123]\s+Elr: *\s+LastKnownElr: *$`,
		`^\s+Topic: tools\s+Partition: 2\s+Leader: [123]`,
	}},
	{class: "TopicCommand", args: "--alter --topic tools --partitions 6", refuses: []string{`(?i)error`}},
	{class: "TopicCommand", args: "--describe --topic tools", wants: []string{
		`PartitionCount: 6`, `Partition: 5\s+Leader: [123]`,
	}},
	{
		class: "TopicCommand", args: "--alter --topic tools --partitions 2",
		wants: []string{`^Error while executing topic command : .*has 6 partition`},
	},
	{class: "TopicCommand", args: "--describe --unavailable-partitions", refuses: []string{`Topic:`}},
	{
		class: "ConfigCommand", args: "--alter --entity-type topics --entity-name tools --add-config max.message.bytes=2000,min.insync.replicas=2",
		wants: []string{`^Completed updating config for topic tools\.$`},
	},
	{class: "ConfigCommand", args: "--describe --entity-type topics --entity-name tools", wants: []string{
		`^Dynamic configs for topic tools are:$`,
		`^\s+max\.message\.bytes=2000 sensitive=false synonyms=\{DYNAMIC_TOPIC_CONFIG:max\.message\.bytes=2000, .*DEFAULT_CONFIG:(message\.max\.bytes|max\.message\.bytes)=1048588\}$`,
		`^\s+min\.insync\.replicas=2 sensitive=false`,
	}},
	{class: "ConfigCommand", args: "--describe --all --entity-type topics --entity-name tools", wants: []string{
		`^All configs for topic tools are:$`, `^\s+segment\.bytes=1073741824 sensitive=false`,
	}},
	{
		class: "ConfigCommand", args: "--alter --entity-type topics --entity-name tools --add-config max.message.bytes=-5",
		wants: []string{`InvalidConfigurationException|Invalid value -5`},
	},
	{
		class: "ConfigCommand", args: "--alter --entity-type topics --entity-name tools --delete-config max.message.bytes",
		wants: []string{`^Completed updating config for topic tools\.$`},
	},
	{
		class: "ConfigCommand", args: "--describe --entity-type topics --entity-name tools",
		wants: []string{`min\.insync\.replicas=2`}, refuses: []string{`max\.message\.bytes`},
	},
	{
		class: "ConfigCommand", args: "--describe --all --entity-type brokers --entity-name 1",
		wants: []string{`^All configs for broker 1 are:$`, `^\s+node\.id=1 `},
	},
	{class: "MetadataQuorumCommand", args: "describe --status", wants: []string{
		`^ClusterId:\s+[A-Za-z0-9_-]{22}$`, `^LeaderId:\s+[123]$`, `^LeaderEpoch:\s+\d+$`,
		`^HighWatermark:\s+\d+$`, `^MaxFollowerLag:\s+\d+$`, `^MaxFollowerLagTimeMs:\s+-?\d+$`,
		`^CurrentVoters:\s+.*1.*2.*3`, `^CurrentObservers:\s+\[.*\]$`,
	}},
	{class: "MetadataQuorumCommand", args: "describe --replication", wants: []string{
		`^NodeId\s+DirectoryId\s+LogEndOffset\s+Lag\s+LastFetchTimestamp\s+LastCaughtUpTimestamp\s+Status`,
		`^1\s+[A-Za-z0-9_-]{22}\s+\d+\s+\d+\s+-?\d+\s+-?\d+\s+(Leader|Follower)`,
		`^3\s+[A-Za-z0-9_-]{22}\s+\d+\s+\d+\s+-?\d+\s+-?\d+\s+(Leader|Follower)`,
	}},
	{class: "FeatureCommand", args: "describe", wants: []string{
		`^Feature: metadata\.version\s+SupportedMinVersion: \S+\s+SupportedMaxVersion: \S+\s+FinalizedVersionLevel: \S+\s+Epoch: \d+`,
	}},
	{class: "FeatureCommand", args: "upgrade --feature nonsense=1", wants: []string{`(?i)nonsense`}},
	{class: "GetOffsetShell", args: "--topic tools", wants: []string{`^tools:0:0$`, `^tools:5:0$`}},
	{class: "TopicCommand", args: "--delete --topic tools", refuses: []string{`(?i)error`}},
	{class: "TopicCommand", args: "--list", refuses: []string{`^tools$`}},
	{
		class: "TopicCommand", args: "--delete --topic tools",
		wants: []string{`^Error while executing topic command : .*does not exist`},
	},
}

// TestClusterObeysKafkasTools runs Kafka's own tools against a cluster of three.
func TestClusterObeysKafkasTools(t *testing.T) {
	needCommand(t, "java")
	cluster := newCluster(t, clusterSize)
	require.NoError(t, cluster.Launch())
	marker := &creator{clients: cluster.clients(t), ledger: newLedger()}
	requireRecovered(t, marker.clients, marker, []*ledger{marker.ledger})
	for i := range clusterTools {
		call := &clusterTools[i]
		// The nodes in turn: any broker has to do.
		address := cluster.Nodes[i%clusterSize].Address
		t.Run(fmt.Sprintf("%s %s", call.class, call.args), func(t *testing.T) {
			requireTool(t, cluster, call, address)
		})
	}
	require.NoError(t, cluster.Stop())
}

func requireTool(t *testing.T, cluster *Cluster, call *tool, address string) {
	requireToolBy(t, cluster, call, "--bootstrap-server", address)
}

// requireToolBy has the tool ask a broker or a controller, by the option.
func requireToolBy(t *testing.T, cluster *Cluster, call *tool, option, address string) {
	args := append([]string{"tool", call.class, option, address}, strings.Fields(call.args)...)
	out, err := cluster.tool(args...)
	for _, want := range call.wants {
		require.Regexp(t, regexp.MustCompile(`(?m)`+want), out)
	}
	for _, refused := range call.refuses {
		require.NotRegexp(t, regexp.MustCompile(`(?m)`+refused), out)
	}
	if len(call.refuses) > 0 {
		require.NoError(t, err, out)
	}
}

// tool runs the peer's command where clients are, and returns what it prints.
func (c *Cluster) tool(args ...string) (string, error) {
	command := exec.Command("ip", append([]string{"netns", "exec", c.hub, "bench/peer.sh"}, args...)...)
	command.Dir = repository
	out, err := command.CombinedOutput()
	return string(out), err
}
