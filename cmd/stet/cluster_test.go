package main

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestClusterIsPrintedByNode(t *testing.T) {
	rack := "r1"
	c := &kmsg.DescribeClusterResponse{ClusterID: "AAAAAAAAAAAAAAAAAAAAAA", Brokers: []kmsg.DescribeClusterResponseBroker{
		{NodeID: 2, Host: "h2", Port: 9092, IsFenced: true},
		{NodeID: 1, Host: "h1", Port: 9092, Rack: &rack},
	}}
	partition := kmsg.DescribeQuorumResponseTopicPartition{
		LeaderID: 2, LeaderEpoch: 7, HighWatermark: 90,
		CurrentVoters: []replicaState{
			{ReplicaID: 3, LogEndOffset: 95}, {ReplicaID: 2, LogEndOffset: 100}, {ReplicaID: 1, LogEndOffset: 80},
		},
		Observers: []replicaState{{ReplicaID: 4, LogEndOffset: 100}},
	}
	q := &kmsg.DescribeQuorumResponse{Topics: []kmsg.DescribeQuorumResponseTopic{
		{Partitions: []kmsg.DescribeQuorumResponseTopicPartition{partition}},
	}}
	q.Nodes = []kmsg.DescribeQuorumResponseNode{
		{NodeID: 1, Listeners: []kmsg.DescribeQuorumResponseNodeListener{{Host: "c1", Port: 9093}}},
	}
	var out strings.Builder
	p := &printer{out: bufio.NewWriter(&out)}
	printCluster(p, c, q)
	require.NoError(t, p.out.Flush())
	const none = "directory=AAAAAAAAAAAAAAAAAAAAAA"
	require.Equal(t, []string{
		"cluster=AAAAAAAAAAAAAAAAAAAAAA brokers=2 voters=3 leader=2 leaderEpoch=7 highWatermark=90",
		"broker=1 addr=h1:9092 fenced=false rack=r1",
		"broker=2 addr=h2:9092 fenced=true",
		"controller=1 role=voter addr=c1:9093 " + none + " logEndOffset=80 lag=20",
		"controller=2 role=leader " + none + " logEndOffset=100 lag=0",
		"controller=3 role=voter " + none + " logEndOffset=95 lag=5",
		"controller=4 role=observer " + none + " logEndOffset=100 lag=0",
	}, strings.Split(strings.TrimSpace(out.String()), "\n"))
}

func TestClusterThatDoesNotAnswerIsAnErrorOfTheEnvironment(t *testing.T) {
	require.Equal(t, exitUsage, run([]string{"cluster", "describe", "--bootstrap", "no-port-and:no:host"}))
}
