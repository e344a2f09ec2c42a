package main

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/wire"
)

func TestReplicasArePrintedWithWhatTheirBrokersSay(t *testing.T) {
	name := "orders"
	topic := &topicDescription{Topic: &name, Partitions: []partitionDescription{{
		LeaderID: -1, LeaderEpoch: 7, Replicas: []int32{1, 2, 3, 4}, EligibleLeaderReplicas: []int32{2},
		LastKnownELR: []int32{1},
	}}}
	brokers := []brokerReplicas{
		{broker: 1, err: errors.New("connection refused"), fenced: true},
		{broker: 2, status: []wire.ReplicaStatus{{
			State: "online", LeaderEpoch: 7, LatestEpoch: 6, LogStart: 1, LogEnd: 9, Synced: 4, HighWatermark: 8,
		}}},
		{broker: 3},
	}
	var out strings.Builder
	p := &printer{out: bufio.NewWriter(&out)}
	printTopic(p, topic)
	printPartitions(p, topic, brokers, true)
	require.NoError(t, p.out.Flush())
	require.Equal(t, []string{
		"topic=orders id=AAAAAAAAAAAAAAAAAAAAAA partitions=1 replicationFactor=4",
		`partition=0 leader=-1 leaderEpoch=7 replicas=1,2,3,4 isr="" elr=2 lastKnownLeader=1`,
		`partition=0 replica=1 standing=none fenced=true state=unreachable error="connection refused"`,
		"partition=0 replica=2 standing=elr fenced=false role=follower state=online logStart=1 logEnd=9 " +
			"highWatermark=8 synced=4 leaderEpoch=7 latestEpoch=6 cleanStart=false",
		"partition=0 replica=3 standing=none fenced=false state=absent",
		"partition=0 replica=4 standing=none state=unregistered",
	}, strings.Split(strings.TrimSpace(out.String()), "\n"))
}
