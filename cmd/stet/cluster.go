package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/metadata"
)

// describeTimeout bounds what a cluster is asked for.
const describeTimeout = 10 * time.Second

func clusterCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "cluster",
		Short: "Look at a running cluster",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(clusterDescribeCommand())
	return c
}

func clusterDescribeCommand() *cobra.Command {
	var bootstrap string
	var asJSON bool
	c := &cobra.Command{
		Use:   "describe",
		Short: "Print brokers and controllers",
		Long: `Ask a broker, and print a line of key=value pairs for the cluster, for each broker, fenced ones
too, and for each controller: the voters of the quorum, and observers, which have no vote.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := &printer{out: bufio.NewWriter(os.Stdout), json: asJSON}
			defer p.out.Flush()
			return describeCluster(c.Context(), p, strings.Split(bootstrap, ","))
		},
	}
	c.Flags().StringVar(&bootstrap, "bootstrap", "127.0.0.1:9092", "HOST:PORT of brokers, with commas")
	c.Flags().BoolVar(&asJSON, "json", false, "a JSON object a line")
	return c
}

func describeCluster(ctx context.Context, p *printer, bootstrap []string) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap...))
	if err != nil {
		return fmt.Errorf("cluster at %s: %w", strings.Join(bootstrap, ","), err)
	}
	defer client.Close()
	brokers := kmsg.NewPtrDescribeClusterRequest()
	brokers.IncludeFencedBrokers = true
	cluster, err := brokers.RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(cluster.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("cluster at %s: %w", strings.Join(bootstrap, ","), err)
	}
	quorum, err := describeQuorum(ctx, client)
	if err != nil {
		return fmt.Errorf("quorum of the cluster at %s: %w", strings.Join(bootstrap, ","), err)
	}
	printCluster(p, cluster, quorum)
	return nil
}

func describeQuorum(ctx context.Context, client *kgo.Client) (*kmsg.DescribeQuorumResponse, error) {
	req := kmsg.NewPtrDescribeQuorumRequest()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = "__cluster_metadata"
	topic.Partitions = append(topic.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, fmt.Errorf("the answer has %d topics", len(resp.Topics))
	}
	return resp, kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}

// printCluster prints both answers, nodes by id.
func printCluster(p *printer, c *kmsg.DescribeClusterResponse, q *kmsg.DescribeQuorumResponse) {
	quorum := &q.Topics[0].Partitions[0]
	p.line("cluster", c.ClusterID, "brokers", len(c.Brokers), "voters", len(quorum.CurrentVoters),
		"leader", quorum.LeaderID, "leaderEpoch", quorum.LeaderEpoch,
		"highWatermark", quorum.HighWatermark)
	slices.SortFunc(c.Brokers, func(a, b kmsg.DescribeClusterResponseBroker) int {
		return int(a.NodeID) - int(b.NodeID)
	})
	for _, b := range c.Brokers {
		pairs := []any{
			"broker", b.NodeID, "addr", net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))),
			"fenced", b.IsFenced,
		}
		if b.Rack != nil && *b.Rack != "" {
			pairs = append(pairs, "rack", *b.Rack)
		}
		p.line(pairs...)
	}
	var end int64 // of the leader's log
	for _, r := range quorum.CurrentVoters {
		if r.ReplicaID == quorum.LeaderID {
			end = r.LogEndOffset
		}
	}
	printControllers(p, "voter", quorum.CurrentVoters, quorum.LeaderID, end, q.Nodes)
	printControllers(p, "observer", quorum.Observers, quorum.LeaderID, end, q.Nodes)
}

type replicaState = kmsg.DescribeQuorumResponseTopicPartitionReplicaState

func printControllers(
	p *printer, role string, all []replicaState, leader int32, end int64,
	nodes []kmsg.DescribeQuorumResponseNode,
) {
	slices.SortFunc(all, func(a, b replicaState) int { return int(a.ReplicaID) - int(b.ReplicaID) })
	for _, r := range all {
		pairs := []any{"controller", r.ReplicaID, "role", role}
		if r.ReplicaID == leader {
			pairs[3] = "leader"
		}
		for _, n := range nodes {
			if n.NodeID == r.ReplicaID && len(n.Listeners) > 0 {
				l := &n.Listeners[0]
				pairs = append(pairs, "addr", net.JoinHostPort(l.Host, strconv.Itoa(int(l.Port))))
			}
		}
		p.line(append(pairs, "directory", metadata.DirectoryID(r.ReplicaDirectoryID),
			"logEndOffset", r.LogEndOffset, "lag", max(0, end-r.LogEndOffset))...)
	}
}
