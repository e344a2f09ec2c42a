package metadata

import (
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

// isrProposal is what a leader asks for at one time, and is decided on at another, if ever.
type isrProposal struct {
	leader kafka.BrokerID
	epoch  kafka.BrokerEpoch
	change ISRChange
	// caughtUp are those of its members that hold all that is committed: the leader waits for them from
	// the moment on at which it proposes them. Damage takes them out.
	caughtUp []kafka.BrokerID
}

// propose has a leader ask for another ISR: replicas that have caught up join, and others leave. It
// may not know yet that a broker is fenced.
func (m *machine) propose(t *rapid.T) {
	if len(m.asked) == 6 {
		return
	}
	topic := m.topic(t)
	if topic == nil {
		return
	}
	id := kafka.PartitionID(rapid.IntRange(0, topic.PartitionCount()-1).Draw(t, "partition"))
	if o, ok := m.proposal(t, topic, id, func(*Broker) bool { return rapid.Bool().Draw(t, "member") }); ok {
		m.asked = append(m.asked, o)
	}
}

// catchUp has every replica whose broker is active join, of each partition with a reassignment.
func (m *machine) catchUp(t *rapid.T) {
	var all []isrProposal
	m.each(func(k partitionKey, topic *Topic, p *Partition) {
		if o, ok := m.proposal(t, topic, k.id, (*Broker).Active); ok && p.Reassignment != nil {
			all = append(all, o)
		}
	})
	for _, o := range all {
		m.decide(t, []isrProposal{o})
	}
}

// proposal makes one of the leader of a partition, if that has a leader.
func (m *machine) proposal(t *rapid.T, topic *Topic, id kafka.PartitionID, joins func(*Broker) bool,
) (o isrProposal, ok bool) {
	p := topic.Partition(id)
	leader := m.image.Broker(p.Leader)
	if leader == nil {
		return o, false
	}
	o = isrProposal{leader: leader.ID, epoch: leader.Epoch, change: ISRChange{
		TopicID: topic.ID, ID: id, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.Epoch,
		Recovering: p.Recovering && rapid.Bool().Draw(t, "recovering"),
	}}
	for _, r := range p.Replicas {
		b := m.image.Broker(r)
		if r == p.Leader || b != nil && !o.change.Recovering && joins(b) {
			o.change.ISR = append(o.change.ISR, ISRMember{r, b.Epoch})
			o.caughtUp = append(o.caughtUp, r)
		}
	}
	return o, true
}

// damageProposals says of the proposals for a partition that a replica may lack what is committed.
func (m *machine) damageProposals(k partitionKey, id kafka.BrokerID) {
	for i := range m.asked {
		if c := &m.asked[i].change; c.TopicID == k.topic && c.ID == k.id {
			m.asked[i].caughtUp = without(m.asked[i].caughtUp, id)
		}
	}
}

// alter decides on what one leader has asked for, or loses it.
func (m *machine) alter(t *rapid.T) {
	if len(m.asked) == 0 {
		return
	}
	first := m.asked[rapid.IntRange(0, len(m.asked)-1).Draw(t, "proposal")]
	same := func(o isrProposal) bool { return o.leader == first.leader && o.epoch == first.epoch }
	var proposals []isrProposal
	for _, o := range m.asked {
		if same(o) {
			proposals = append(proposals, o)
		}
	}
	m.asked = slices.DeleteFunc(m.asked, same)
	if rapid.IntRange(0, 4).Draw(t, "lost") == 0 {
		return
	}
	m.decide(t, proposals)
}

// decide decides on proposals of one leader.
func (m *machine) decide(t *rapid.T, proposals []isrProposal) {
	first := proposals[0]
	var changes []ISRChange
	for _, o := range proposals {
		changes = append(changes, o.change)
	}
	before := m.image
	records, outcomes, code := AlterPartition(before, first.leader, first.epoch, changes)
	if code != kafka.None {
		require.NotEqual(t, kafka.None, CheckBroker(m.image, first.leader, first.epoch))
		require.Empty(t, records)
		return
	}
	require.Len(t, outcomes, len(changes))
	decided := map[partitionKey]bool{}
	for i, o := range outcomes {
		k := partitionKey{o.TopicID, o.ID}
		require.Equal(t, partitionKey{changes[i].TopicID, changes[i].ID}, k)
		accepted := o.Error == kafka.None || o.Error == kafka.NewLeaderElected
		require.Equal(t, accepted, m.fits(&proposals[i]) && !decided[k], "%v", proposals[i])
		if decided[k] = true; !accepted {
			continue
		}
		for _, id := range proposals[i].caughtUp {
			m.holders[k] = append(without(m.holders[k], id), id)
		}
	}
	m.apply(t, records)
	for i, o := range outcomes {
		if o.Error != kafka.None && o.Error != kafka.NewLeaderElected {
			continue
		}
		old, p := before.TopicByID(o.TopicID).Partition(o.ID), m.image.TopicByID(o.TopicID).Partition(o.ID)
		require.Equal(t, changes[i].Recovering, p.Recovering)
		require.Equal(t, o.Error == kafka.NewLeaderElected, p.Leader != old.Leader)
		if o.Error == kafka.None {
			require.Equal(t, o.State, p, "what is told is what there is")
		}
		if p.Reassignment == old.Reassignment {
			require.Len(t, p.ISR, len(changes[i].ISR))
		} else {
			require.Nil(t, p.Reassignment)
			require.Equal(t, old.target(), p.Replicas)
			require.ElementsMatch(t, p.Replicas, p.ISR)
		}
	}
}

// fits says whether a proposal is about the state that there is, and all its members are in the life
// in which they caught up, and active.
func (m *machine) fits(o *isrProposal) bool {
	topic := m.image.TopicByID(o.change.TopicID)
	if topic == nil {
		return false
	}
	p := topic.Partition(o.change.ID)
	for _, member := range o.change.ISR {
		if b := m.image.Broker(member.Broker); b == nil || !b.Active() || b.Epoch != member.Epoch {
			return false
		}
	}
	return p.Leader == o.leader && p.LeaderEpoch == o.change.LeaderEpoch && p.Epoch == o.change.PartitionEpoch
}
