package metadata

import (
	"slices"

	"stet/core/invariant"
	"stet/core/kafka"
)

// ISRMember is a replica that holds all that is committed, as the leader of its partition says.
type ISRMember struct {
	Broker kafka.BrokerID
	Epoch  kafka.BrokerEpoch // of the broker's life that has caught up; -1: the request has no field for it
}

// ISRChange is what the leader of a partition asks for. It is about the state that has these epochs
// and no other.
type ISRChange struct {
	TopicID        kafka.TopicID
	ID             kafka.PartitionID
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	ISR            []ISRMember // in any order
	Recovering     bool        // the leader has not recovered from an unclean election
}

// AlteredPartition is the outcome for one partition.
type AlteredPartition struct {
	TopicID kafka.TopicID
	ID      kafka.PartitionID
	Error   kafka.ErrorCode
	State   *Partition // after the request; nil with an error
}

// AlterPartition decides on one request of a leader, whose changes are independent of each other and
// become one entry. What asks for the state that there is changes nothing, and is answered with that.
func AlterPartition(image *Image, leader kafka.BrokerID, epoch kafka.BrokerEpoch, asked []ISRChange) (
	records []Record, outcomes []AlteredPartition, code kafka.ErrorCode,
) {
	if code := CheckBroker(image, leader, epoch); code != kafka.None {
		return nil, nil, code
	}
	r := isrRequest{image: image, leader: leader, base: image.ClusterTopicConfig(kafka.DefaultTopicConfig())}
	seen := map[partitionKey]bool{}
	for i := range asked {
		c := &asked[i]
		o := AlteredPartition{TopicID: c.TopicID, ID: c.ID}
		k := partitionKey{c.TopicID, c.ID}
		if seen[k] {
			o.Error = kafka.InvalidRequest
		} else {
			o.State, o.Error = r.decide(c)
		}
		seen[k] = true
		outcomes = append(outcomes, o)
	}
	return r.changes.records(), outcomes, kafka.None
}

// isrRequest is a request that is being decided on.
type isrRequest struct {
	image   *Image
	leader  kafka.BrokerID
	base    kafka.TopicConfig // of topics that set nothing
	changes changes
}

// decide judges one change and appends what it does.
func (r *isrRequest) decide(c *ISRChange) (*Partition, kafka.ErrorCode) {
	t := r.image.TopicByID(c.TopicID)
	if t == nil {
		return nil, kafka.UnknownTopicID
	}
	p := t.Partition(c.ID)
	if code := r.judge(p, c); code != kafka.None {
		return nil, code
	}
	config := TopicConfig(r.base, t.configs)
	if !c.has(p.Leader) {
		r.changes.update(t, PartitionUpdate{ID: c.ID, NewEpoch: true, Standing: r.resigned(p, rulesOf(&config, p))})
		return nil, kafka.NewLeaderElected
	}
	u := PartitionUpdate{ID: c.ID, Standing: p.alteredBy(c, rulesOf(&config, p))}
	if u.same(&p.Standing) && u.Recovering == p.Recovering && containsAllOf(p.ISR, u.ISR) {
		return p, kafka.None
	}
	after := r.changes.update(t, u)
	if after.Leader != p.Leader {
		// The change ended a reassignment that the leader was not to survive.
		return nil, kafka.NewLeaderElected
	}
	return after, kafka.None
}

// judge says what is wrong with a change. p is nil if there is no such partition. A leader that knows
// newer epochs than this controller asks one that does not lead any more (Kafka's
// ReplicationControlManager.validateAlterPartitionData).
func (r *isrRequest) judge(p *Partition, c *ISRChange) kafka.ErrorCode {
	switch {
	case p == nil:
		return kafka.UnknownTopicOrPartition
	case c.LeaderEpoch > p.LeaderEpoch || c.PartitionEpoch > p.Epoch:
		return kafka.NotController
	case c.LeaderEpoch < p.LeaderEpoch:
		return kafka.FencedLeaderEpoch
	case r.leader != p.Leader:
		return kafka.InvalidRequest
	case c.PartitionEpoch < p.Epoch:
		return kafka.InvalidUpdateVersion
	case !c.fits(p), !c.has(p.Leader) && !c.within(p.ISR):
		return kafka.InvalidRequest
	case c.Recovering && (len(c.ISR) > 1 || !p.Recovering):
		// What a leader has that is still recovering may yet change (KIP-704), and it recovers once.
		return kafka.InvalidRequest
	case slices.ContainsFunc(c.ISR, func(m ISRMember) bool { return !r.eligible(m) }):
		return kafka.IneligibleReplica
	}
	return kafka.None
}

// fits says whether the members are a set of replicas.
func (c *ISRChange) fits(p *Partition) bool {
	for i, m := range c.ISR {
		same := func(o ISRMember) bool { return o.Broker == m.Broker }
		if !p.HasReplica(m.Broker) || slices.ContainsFunc(c.ISR[:i], same) {
			return false
		}
	}
	return true
}

func (c *ISRChange) has(id kafka.BrokerID) bool {
	return slices.ContainsFunc(c.ISR, func(m ISRMember) bool { return m.Broker == id })
}

// within says whether nobody joins.
func (c *ISRChange) within(isr []kafka.BrokerID) bool {
	for _, m := range c.ISR {
		if !slices.Contains(isr, m.Broker) {
			return false
		}
	}
	return true
}

// resigned returns the standing of a partition whose leader does not count itself among those in sync:
// it has lost records that it had, or can not read them. Whoever of the others is in sync leads then, and
// only without any of them it may lead again, in an epoch of its own.
func (r *isrRequest) resigned(p *Partition, rules rules) Standing {
	e := event{
		active: activeBrokers(r.image, nil, kafka.NoBroker),
		damage: damage{hit: true, broker: p.Leader, all: true},
	}
	return e.settle(p, rules)
}

// eligible says whether a replica may be in sync: its broker may lead, and is in the life that has
// caught up. A broker that started again since may have lost what it had (KIP-903).
func (r *isrRequest) eligible(m ISRMember) bool {
	b := r.image.Broker(m.Broker)
	if b == nil {
		return false
	}
	active, same := b.Active(), m.Epoch < 0 || m.Epoch == b.Epoch
	if invariant.CanaryFencedInSync.On() {
		active = true
	}
	if invariant.CanaryBrokerEpochIgnored.On() {
		same = true
	}
	return active && same
}

// alteredBy returns the standing that a change asks for. While fewer than the minimum are in sync
// nothing is committed, so those who leave then hold all that is, like those who were eligible before
// (KIP-966).
func (p *Partition) alteredBy(c *ISRChange, r rules) Standing {
	s := Standing{Leader: p.Leader, LastKnownLeader: kafka.NoBroker, Recovering: c.Recovering}
	for _, id := range p.Replicas {
		switch {
		case c.has(id):
			s.ISR = append(s.ISR, id)
		case slices.Contains(p.ISR, id) || slices.Contains(p.ELR, id):
			s.ELR = append(s.ELR, id)
		}
	}
	if len(s.ISR) >= r.minISR {
		s.ELR = nil
	}
	return s
}

func containsAllOf[T comparable](set, all []T) bool {
	return !slices.ContainsFunc(all, func(v T) bool { return !slices.Contains(set, v) })
}
