package metadata

import (
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

// check judges the image as it is.
func (m *machine) check(t *rapid.T) {
	count := 0
	m.each(func(k partitionKey, topic *Topic, p *Partition) {
		count++
		m.checkSets(t, topic, p)
		m.checkLeader(t, topic, p)
		checkReassignment(t, p)
		for _, id := range append(slices.Clone(p.ISR), p.ELR...) {
			require.Contains(t, m.holders[k], id, "a replica that may lack what is committed may be elected")
		}
	})
	require.Equal(t, count, m.image.PartitionCount())
}

// checkSets is R7.
func (m *machine) checkSets(t *rapid.T, topic *Topic, p *Partition) {
	for i, id := range p.ISR {
		require.NotContains(t, p.ISR[:i], id)
		require.NotContains(t, p.ELR, id)
		require.Contains(t, p.Replicas, id)
		b := m.image.Broker(id)
		require.True(t, b != nil && b.Active(), "broker %d is in the ISR %v", id, b)
	}
	for i, id := range p.ELR {
		require.NotContains(t, p.ELR[:i], id)
		require.Contains(t, p.Replicas, id)
		require.NotNil(t, m.image.Broker(id))
	}
	require.True(t, len(p.ELR) == 0 || len(p.ISR) < m.minimum(topic, p), "%v", p)
	require.True(t, len(p.Directories) == 0 || len(p.Directories) == len(p.Replicas))
}

// checkLeader: the leader is in sync; there is none only if nobody can be elected.
func (m *machine) checkLeader(t *rapid.T, topic *Topic, p *Partition) {
	if p.Leader != kafka.NoBroker {
		require.Contains(t, p.ISR, p.Leader)
		require.Equal(t, kafka.NoBroker, p.LastKnownLeader)
		return
	}
	require.Empty(t, p.ISR)
	require.NotEqual(t, kafka.NoBroker, p.LastKnownLeader)
	active := func(id kafka.BrokerID) bool {
		b := m.image.Broker(id)
		return b != nil && b.Active()
	}
	require.False(t, slices.ContainsFunc(p.ELR, active), "an eligible replica does not lead")
	require.False(t, len(p.ELR) == 0 && active(p.LastKnownLeader), "the last known leader does not lead")
	require.False(t, m.allowsUnclean(topic) && slices.ContainsFunc(p.Replicas, active))
}

func (m *machine) allowsUnclean(topic *Topic) bool { return m.config(topic).UncleanLeaderElection }

func intersection(a, b []kafka.BrokerID) []kafka.BrokerID {
	return slices.DeleteFunc(slices.Clone(a), func(id kafka.BrokerID) bool { return !slices.Contains(b, id) })
}

func without(list []kafka.BrokerID, id kafka.BrokerID) []kafka.BrokerID {
	return slices.DeleteFunc(slices.Clone(list), func(o kafka.BrokerID) bool { return o == id })
}

// checkSteps judges what an entry did, and keeps the holders.
func (m *machine) checkSteps(t *rapid.T, before *Image) {
	require.GreaterOrEqual(t, m.image.Features().Level, before.Features().Level)
	m.each(func(k partitionKey, topic *Topic, p *Partition) {
		var old *Partition
		if was := before.TopicByID(k.topic); was != nil {
			old = was.Partition(k.id)
		}
		if old != nil {
			checkStep(t, old, p)
		}
		change := PartitionChange{k.id, old, p}
		if change.Unclean() {
			require.True(t, p.Recovering)
			if !m.allowsUnclean(topic) && !m.forced {
				eligible := append(slices.Clone(old.ISR), old.ELR...)
				require.Empty(t, intersection(m.holders[k], eligible), "the election was not to be unclean")
			}
			m.holders[k] = []kafka.BrokerID{p.Leader}
		}
		// Whoever is a replica no more deletes what it has.
		m.holders[k] = intersection(m.holders[k], p.Replicas)
		// As soon as enough are in sync more is committed, which only they hold.
		if old == nil || len(p.ISR) >= m.minimum(topic, p) {
			m.holders[k] = slices.Clone(p.ISR)
		}
	})
}

func checkStep(t *rapid.T, old, p *Partition) {
	if old == p {
		return
	}
	require.Equal(t, old.Epoch+1, p.Epoch, "a change is one step")
	require.True(t, p.LeaderEpoch == old.LeaderEpoch || p.LeaderEpoch == old.LeaderEpoch+1)
	require.True(t, p.LeaderEpoch > old.LeaderEpoch || p.Leader == old.Leader, "a leader has an epoch of its own")
	if !containsAllOf(p.Replicas, old.Replicas) {
		require.Greater(t, p.LeaderEpoch, old.LeaderEpoch, "what a leader knows of a replica that left outlives it")
	}
}

// checkReassignment: those that go are the last, and it is over when the others are in sync.
func checkReassignment(t *rapid.T, p *Partition) {
	r := p.reassignment()
	require.Equal(t, p.Reassignment == nil, len(r.Adding)+len(r.Removing) == 0)
	require.Empty(t, intersection(r.Adding, r.Removing))
	require.True(t, containsAllOf(p.Replicas, r.Adding))
	require.Equal(t, append(slices.Clone(p.target()), r.Removing...), p.Replicas)
	require.NotEmpty(t, p.target())
	require.False(t, p.Reassignment != nil && containsAllOf(p.ISR, p.target()), "%v", p)
}
