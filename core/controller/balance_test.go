package controller

import (
	"testing"
	"time"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// led counts the partitions of topic a by leader.
func (r *rig) led() map[kafka.BrokerID]int {
	counts := map[kafka.BrokerID]int{}
	topic := r.c.Image().Topic("a")
	for i := range topic.PartitionCount() {
		counts[topic.Partition(kafka.PartitionID(i)).Leader]++
	}
	return counts
}

// astray is a controller with topic a of so many partitions, of which broker 2 is the first replica and
// broker 1 leads.
func astray(t *testing.T, partitions int32) *rig {
	r, _ := replicated(t)
	r.config.Rebalance.CheckSeconds = 60
	m := kmsg.NewPtrCreatePartitionsRequest()
	m.Version = 3
	topic := kmsg.NewCreatePartitionsRequestTopic()
	topic.Topic, topic.Count = "a", partitions
	for range partitions - 2 {
		topic.Assignment = append(topic.Assignment, kmsg.CreatePartitionsRequestTopicAssignment{Replicas: []int32{1, 2, 3}})
	}
	m.Topics = append(m.Topics, topic)
	if partitions > 2 {
		require.Zero(t, r.call(m).(*kmsg.CreatePartitionsResponse).Topics[0].ErrorCode)
	}
	require.Equal(t, env.Never, r.c.balance.deadline(r.c), "there is nothing to do")
	reassign := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	reassign.Version = 1
	asked := kmsg.NewAlterPartitionAssignmentsRequestTopic()
	asked.Topic = "a"
	for i := range partitions {
		asked.Partitions = append(asked.Partitions, kmsg.AlterPartitionAssignmentsRequestTopicPartition{
			Partition: i, Replicas: []int32{2, 1, 3},
		})
	}
	reassign.Topics = append(reassign.Topics, asked)
	require.Zero(t, r.call(reassign).(*kmsg.AlterPartitionAssignmentsResponse).ErrorCode)
	require.Equal(t, map[kafka.BrokerID]int{1: int(partitions)}, r.led())
	return r
}

// pass lets time pass, with a turn at its end.
func (r *rig) pass(d time.Duration) {
	r.now.Mono = r.now.Mono.Add(d)
	r.turn(env.Event{Kind: env.EventTick})
	r.settle()
}

func TestFirstReplicasLeadAgainAtTheNextCheckSomeAtATime(t *testing.T) {
	r := astray(t, 2500)
	at := r.c.balance.deadline(r.c)
	require.Equal(t, r.now.Mono.Add(time.Minute), at, "from the change on")
	// The brokers' sessions would end meanwhile.
	r.c.sessions.clear()
	entries := r.c.Metrics.Entries
	r.pass(time.Minute - 1)
	require.Equal(t, map[kafka.BrokerID]int{1: 2500}, r.led())
	r.pass(1)
	require.Equal(t, map[kafka.BrokerID]int{2: 2500}, r.led())
	require.Equal(t, uint64(3), r.c.Metrics.Entries-entries, "1,000 in an entry")
	require.Equal(t, env.Never, r.c.balance.deadline(r.c))
}

func TestLeadersAreLeftAloneBelowThePercentageAndWithoutTheSetting(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"below": func(r *rig) { r.config.Rebalance.Percent = 100 },
		"off":   func(r *rig) { r.config.Rebalance.Enabled = false; r.c.balance.restart(r.c) },
	} {
		r := astray(t, 2)
		change(r)
		r.c.sessions.clear()
		r.pass(time.Hour)
		require.Equal(t, map[kafka.BrokerID]int{1: 2}, r.led(), name)
		require.Equal(t, env.Never, r.c.balance.deadline(r.c), name)
	}
}

func TestControllerThatBeginsToLeadChecksIfThereIsSomethingToDo(t *testing.T) {
	r := astray(t, 2)
	r.reset()
	r.boot()
	require.Equal(t, r.now.Mono.Add(time.Minute), r.c.balance.deadline(r.c))
	r.c.sessions.clear()
	r.pass(time.Minute)
	require.Equal(t, map[kafka.BrokerID]int{2: 2}, r.led())
	r.reset()
	r.boot()
	require.Equal(t, env.Never, r.c.balance.deadline(r.c))
}

func TestAControllerThatHasNeverLedWaitsForNoBalance(t *testing.T) {
	c := &Controller{image: metadata.Empty()}
	require.False(t, c.Ready())
	require.Equal(t, env.Never, c.balance.deadline(c))
}
