package metadata

import (
	"slices"

	"stet/core/invariant"
	"stet/core/kafka"
)

// event is what happens to brokers in one entry, as their partitions see it.
type event struct {
	active []kafka.BrokerID // that may lead and be in sync once the entry is applied; sorted
	damage damage
	room   []kafka.BrokerID // for the lists that are made
}

// damage tells which replicas of a broker may have lost what they held. The zero value is none.
type damage struct {
	hit    bool
	broker kafka.BrokerID
	all    bool          // of its replicas; else those outside of sound
	sound  []DirectoryID // with the zero id if replicas without an assigned directory are sound

	// rehome says that replicas in directories that are gone are assigned to another.
	rehome bool
	home   DirectoryID // zero: the broker chooses
}

func (d *damage) hits(p *Partition, id kafka.BrokerID) bool {
	if invariant.CanaryLastReplicaStands.On() && len(p.ISR) < 2 && id == max(p.Leader, p.LastKnownLeader) {
		return false
	}
	return d.hit && id == d.broker && (d.all || !slices.Contains(d.sound, p.Directory(id)))
}

// displaces says whether the broker's replica is assigned to a directory that is gone.
func (d *damage) displaces(p *Partition) bool {
	if !d.rehome {
		return false
	}
	assigned := p.Directory(d.broker)
	return assigned != DirectoryID{} && !slices.Contains(d.sound, assigned)
}

// activeBrokers returns who may lead and be in sync, without some and with one more.
func activeBrokers(image *Image, without []kafka.BrokerID, with kafka.BrokerID) []kafka.BrokerID {
	var out []kafka.BrokerID
	for b := range image.Brokers() {
		if b.ID == with || b.Active() && !slices.Contains(without, b.ID) {
			out = append(out, b.ID)
		}
	}
	return out
}

// records returns what the event does to the partitions, by the settings in the image: those that
// elections obey are not read from where a broker or a controller is started. It looks at every partition: there is no
// index of them by broker, because brokers come and go seldom and a look costs some nanoseconds.
func (e *event) records(image *Image) []Record {
	var out []Record
	base := image.ClusterTopicConfig(kafka.DefaultTopicConfig())
	for t := range image.Topics() {
		config := base
		if len(t.configs) > 0 {
			config = TopicConfig(base, t.configs)
		}
		out = e.appendChanges(out, t, config)
	}
	return out
}

// settled appends to records, which change settings only, what those do to partitions: a smaller
// minimum makes an ELR superfluous, and a topic that comes to allow it gets leaders where it has none.
func settled(image *Image, records []Record) []Record {
	obeyed := func(r Record) bool {
		c := r.(*ConfigRecord)
		return c.Name == "min.insync.replicas" || c.Name == "unclean.leader.election.enable"
	}
	if !slices.ContainsFunc(records, obeyed) {
		return records
	}
	after, err := image.Apply(image.index+1, records...)
	invariant.Always(err == nil, "settings that were decided on do not fit the image")
	e := event{active: activeBrokers(image, nil, kafka.NoBroker)}
	return append(records, e.records(after)...)
}

// appendChanges appends what the event does to the partitions of one topic.
func (e *event) appendChanges(out []Record, t *Topic, config kafka.TopicConfig) []Record {
	var changes []PartitionUpdate
	for i := range t.partitions.count {
		p := t.partitions.get(i)
		rules := rulesOf(&config, p)
		if e.leaves(p, rules) {
			continue
		}
		u := PartitionUpdate{ID: kafka.PartitionID(i), Standing: e.settle(p, rules)}
		u.NewEpoch = u.Leader != p.Leader || e.damages(p)
		if whole := e.whole(p, &u); whole != nil {
			out = append(out, &PartitionRecord{t.ID, u.ID, *whole})
		} else if !u.same(&p.Standing) {
			changes = append(changes, u)
		}
	}
	if len(changes) > 0 {
		out = append(out, &PartitionChangesRecord{t.ID, changes})
	}
	return out
}

// whole returns the partition after an update if more is different than that says: the replica has to be
// assigned to another directory, or a reassignment is at its end. Else it returns nil.
func (e *event) whole(p *Partition, u *PartitionUpdate) *Partition {
	moved := e.damage.displaces(p)
	if !moved && p.Reassignment == nil {
		return nil
	}
	after := u.applied(p)
	if moved {
		after.Directories = slices.Clone(p.Directories)
		after.Directories[slices.Index(p.Replicas, e.damage.broker)] = e.damage.home
	}
	if done := after.completed(p); moved || done != &after {
		return done
	}
	return nil
}

// rules are the settings of a topic that elections obey.
type rules struct {
	minISR  int  // of min.insync.replicas and the number of replicas the smaller
	unclean bool // any replica may be elected if no other can
}

func rulesOf(config *kafka.TopicConfig, p *Partition) rules {
	n := p.ReplicationFactor()
	return rules{min(config.MinInsync(n), n), config.UncleanLeaderElection}
}

// leaves says, fast, that the event leaves a partition as it is. It may be wrong the other way.
func (e *event) leaves(p *Partition, r rules) bool {
	if p.Leader == kafka.NoBroker || e.damage.displaces(p) || len(p.ELR) > 0 && (len(p.ISR) >= r.minISR || e.damage.hit) {
		return false
	}
	for _, id := range p.ISR {
		if !e.isActive(id) || e.damage.hit && id == e.damage.broker {
			return false
		}
	}
	return true
}

func (e *event) isActive(id kafka.BrokerID) bool {
	_, found := slices.BinarySearch(e.active, id)
	return found
}

// damages says whether a replica that held all that is committed may do so no longer.
func (e *event) damages(p *Partition) bool {
	id := e.damage.broker
	return e.damage.hits(p, id) && (slices.Contains(p.ISR, id) || slices.Contains(p.ELR, id))
}

// settle returns the standing of a partition after the event. Members of the ISR that are no longer
// active leave it. While the ISR is smaller than the minimum nothing is committed, so those who left
// since then hold all that is: they make up the ELR, without those that are damaged (KIP-966,
// Kafka's PartitionChangeBuilder).
func (e *event) settle(p *Partition, r rules) Standing {
	s := Standing{Leader: kafka.NoBroker, Recovering: p.Recovering}
	s.ISR, s.ELR = e.list(len(p.ISR)), e.list(len(p.ISR)+len(p.ELR))
	for _, id := range p.Replicas {
		inSync := slices.Contains(p.ISR, id)
		switch {
		case e.damage.hits(p, id):
		case inSync && e.isActive(id):
			s.ISR = append(s.ISR, id)
		case inSync || slices.Contains(p.ELR, id):
			s.ELR = append(s.ELR, id)
		}
	}
	e.elect(&s, p, r)
	if len(s.ISR) == 0 {
		s.ISR = nil
	}
	if len(s.ISR) >= r.minISR || len(s.ELR) == 0 {
		s.ELR = nil
	}
	return s
}

// list returns an empty list with room for n.
func (e *event) list(n int) []kafka.BrokerID {
	if len(e.room) < n {
		e.room = make([]kafka.BrokerID, max(n, 1024))
	}
	out := e.room[:0:n]
	e.room = e.room[n:]
	return out
}

// elect chooses the leader, in this order: the present one, another member of the ISR, a member of
// the ELR, the leader that was known last, and any replica if the topic allows it. Of several the
// first replica is chosen. The last two may lack committed records: such an election is unclean.
func (e *event) elect(s *Standing, p *Partition, r rules) {
	s.LastKnownLeader = kafka.NoBroker
	if slices.Contains(s.ISR, p.Leader) {
		s.Leader = p.Leader
		return
	}
	if len(s.ISR) > 0 {
		s.Leader = s.ISR[0]
		return
	}
	if i := slices.IndexFunc(s.ELR, e.isActive); i >= 0 {
		s.Leader = s.ELR[i]
		s.ISR, s.ELR = []kafka.BrokerID{s.Leader}, slices.Delete(s.ELR, i, i+1)
		return
	}
	last := p.LastKnownLeader
	if p.Leader != kafka.NoBroker {
		last = p.Leader
	}
	if len(s.ELR) == 0 && e.isActive(last) && p.HasReplica(last) {
		s.uncleanly(last)
		return
	}
	if r.unclean {
		if id := e.anyOf(p); id != kafka.NoBroker {
			s.uncleanly(id)
			return
		}
	}
	s.LastKnownLeader = last
}

// anyOf returns the first replica that is active. One that a reassignment brings comes last: it may have
// nothing at all.
func (e *event) anyOf(p *Partition) kafka.BrokerID {
	for _, list := range [][]kafka.BrokerID{p.origin(), p.reassignment().Adding} {
		if i := slices.IndexFunc(list, e.isActive); i >= 0 {
			return list[i]
		}
	}
	return kafka.NoBroker
}

// uncleanly elects a leader that may lack committed records. What it has is the truth from now on,
// so nobody else holds all of that.
func (s *Standing) uncleanly(leader kafka.BrokerID) {
	s.Leader, s.ISR, s.ELR, s.Recovering = leader, []kafka.BrokerID{leader}, nil, true
}

// same compares with the standing before the event. ISR and ELR change by leaving or by an election
// only, so that sets of one size are equal.
func (s *Standing) same(before *Standing) bool {
	return s.Leader == before.Leader && len(s.ISR) == len(before.ISR) &&
		len(s.ELR) == len(before.ELR)
}
