package metadata

import (
	"testing"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
)

// ids makes a list of brokers.
func ids(list ...kafka.BrokerID) []kafka.BrokerID { return list }

// partitionOf is a partition of brokers 1 to 3 with this standing.
func partitionOf(leader, last kafka.BrokerID, isr, elr []kafka.BrokerID) *Partition {
	return &Partition{
		Replicas: ids(1, 2, 3),
		Standing: Standing{ISR: isr, ELR: elr, Leader: leader, LastKnownLeader: last},
	}
}

func TestOrderOfElections(t *testing.T) {
	const none = kafka.NoBroker
	for name, c := range map[string]struct {
		before *Partition
		active []kafka.BrokerID
		rules  rules
		want   Standing
	}{
		"the leader stays while it is active": {
			partitionOf(2, none, ids(1, 2, 3), nil), ids(2, 3),
			rules{minISR: 2},
			Standing{ids(2, 3), nil, 2, none, false},
		},
		"the first replica of the ISR is next": {
			partitionOf(1, none, ids(3, 2, 1), nil), ids(2, 3),
			rules{minISR: 2},
			Standing{ids(2, 3), nil, 2, none, false},
		},
		"below the minimum those who leave are eligible": {
			partitionOf(1, none, ids(1, 2, 3), nil), ids(3),
			rules{minISR: 2},
			Standing{ids(3), ids(1, 2), 3, none, false},
		},
		"the ISR may become empty, and the leader is remembered": {
			partitionOf(3, none, ids(3), ids(1, 2)), nil,
			rules{minISR: 2},
			Standing{nil, ids(1, 2, 3), none, 3, false},
		},
		"an eligible replica leads when the ISR is empty": {
			partitionOf(none, 3, nil, ids(1, 2, 3)), ids(2),
			rules{minISR: 2},
			Standing{ids(2), ids(1, 3), 2, none, false},
		},
		"an eligible replica does not lead while the ISR has a member": {
			partitionOf(3, none, ids(3), ids(1)), ids(1, 3),
			rules{minISR: 2},
			Standing{ids(3), ids(1), 3, none, false},
		},
		"a leader alone is enough for a minimum of one": {
			partitionOf(none, 3, nil, ids(1, 2)), ids(2),
			rules{minISR: 1},
			Standing{ids(2), nil, 2, none, false},
		},
		"the last known leader waits for eligible replicas": {
			partitionOf(none, 3, nil, ids(1)), ids(3),
			rules{minISR: 2},
			Standing{nil, ids(1), none, 3, false},
		},
		"the last known leader is elected uncleanly when nobody is eligible": {
			partitionOf(none, 3, nil, nil), ids(2, 3),
			rules{minISR: 2},
			Standing{ids(3), nil, 3, none, true},
		},
		"another replica is not": {
			partitionOf(none, 3, nil, nil), ids(1, 2),
			rules{minISR: 2},
			Standing{nil, nil, none, 3, false},
		},
		"another replica is if the topic allows it": {
			partitionOf(none, 3, nil, ids(1)), ids(2, 3),
			rules{minISR: 2, unclean: true},
			Standing{ids(2), nil, 2, none, true},
		},
		"an eligible replica comes before any other": {
			partitionOf(none, 3, nil, ids(3)), ids(2, 3),
			rules{minISR: 2, unclean: true},
			Standing{ids(3), nil, 3, none, false},
		},
		"a minimum that is reached clears the ELR": {
			partitionOf(1, none, ids(1), ids(2, 3)), ids(1),
			rules{minISR: 1},
			Standing{ids(1), nil, 1, none, false},
		},
	} {
		e := event{active: c.active}
		require.Equal(t, c.want, e.settle(c.before, c.rules), name)
		require.False(t, e.leaves(c.before, c.rules) && !c.want.same(&c.before.Standing), name)
	}
}

func TestElectionKeepsWhatALeaderHasToRecover(t *testing.T) {
	p := partitionOf(1, kafka.NoBroker, ids(1), nil)
	p.Recovering = true
	e := event{}
	gone := e.settle(p, rules{minISR: 2})
	require.Equal(t, Standing{nil, ids(1), kafka.NoBroker, 1, true}, gone)
	p.Standing = gone
	e.active = ids(1, 2)
	require.Equal(t, Standing{ids(1), nil, 1, kafka.NoBroker, true}, e.settle(p, rules{minISR: 2}))
}

func TestUncleanElectionIsToldFromACleanOne(t *testing.T) {
	before := partitionOf(1, kafka.NoBroker, ids(1, 2), nil)
	after := func(leader kafka.BrokerID) *Partition {
		p := partitionOf(leader, kafka.NoBroker, ids(leader), nil)
		p.LeaderEpoch, p.Recovering = 1, true
		return p
	}
	joined := after(3)
	joined.Recovering = false
	eligible := partitionOf(kafka.NoBroker, 1, nil, ids(3))
	for _, c := range []struct {
		change PartitionChange
		want   bool
	}{
		{PartitionChange{0, before, after(2)}, false},
		{PartitionChange{0, eligible, after(3)}, false},
		{PartitionChange{0, before, after(3)}, true},
		{PartitionChange{0, before, joined}, false},
		{PartitionChange{0, eligible, after(1)}, true},
		{PartitionChange{0, nil, after(1)}, false},
		{PartitionChange{0, before, before}, false},
		{PartitionChange{0, before, &Partition{LeaderEpoch: 1, Standing: Standing{Leader: -1}}}, false},
	} {
		require.Equal(t, c.want, c.change.Unclean())
	}
}
