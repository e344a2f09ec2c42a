package metadata

import (
	"slices"

	"stet/core/kafka"
)

// ElectionType says which leaders are asked for, with the numbers of ElectLeaders.
type ElectionType int8

const (
	PreferredElection ElectionType = 0 // the first replica, if it is in sync
	UncleanElection   ElectionType = 1 // any replica where there is no leader, even if it may lack committed records
)

// TopicPartitions names partitions of one topic.
type TopicPartitions struct {
	Topic      string
	Partitions []kafka.PartitionID
}

// TopicElection is the outcome for one topic.
type TopicElection struct {
	Topic      string
	Partitions []PartitionElection
}

// PartitionElection is the outcome for one partition.
type PartitionElection struct {
	ID      kafka.PartitionID
	Error   kafka.ErrorCode
	Message string
}

// ElectLeaders decides on one ElectLeaders request, as Kafka's ReplicationControlManager does. nil asks
// for all partitions that there are; those that need no election are left out of the outcomes then. An
// unclean election asked for by hand needs no permission of the topic's settings.
func ElectLeaders(image *Image, kind ElectionType, asked []TopicPartitions) (
	records []Record, outcomes []TopicElection, code kafka.ErrorCode,
) {
	if kind != PreferredElection && kind != UncleanElection {
		return nil, nil, kafka.InvalidRequest
	}
	e := elections{event: event{active: activeBrokers(image, nil, kafka.NoBroker)}, kind: kind}
	if asked == nil {
		for t := range image.Topics() {
			if all := e.all(t); len(all.Partitions) > 0 {
				outcomes = append(outcomes, all)
			}
		}
		return e.changes.records(), outcomes, kafka.None
	}
	seen := map[partitionKey]bool{}
	for i := range asked {
		t := image.Topic(asked[i].Topic)
		o := TopicElection{Topic: asked[i].Topic}
		for _, id := range asked[i].Partitions {
			r := e.elect(t, id, seen)
			o.Partitions = append(o.Partitions, PartitionElection{id, r.code, r.text})
		}
		outcomes = append(outcomes, o)
	}
	return e.changes.records(), outcomes, kafka.None
}

// elections are those of one request.
type elections struct {
	event   event
	kind    ElectionType
	changes changes
}

// all elects the leaders of a topic that need an election.
func (e *elections) all(t *Topic) TopicElection {
	o := TopicElection{Topic: t.Name}
	for i := range t.partitions.count {
		id := kafka.PartitionID(i)
		if r := e.decide(t, id); r.code != kafka.ElectionNotNeeded {
			o.Partitions = append(o.Partitions, PartitionElection{id, r.code, r.text})
		}
	}
	return o
}

// elect elects the leader of a partition that may not exist; t is nil if the topic does not.
func (e *elections) elect(t *Topic, id kafka.PartitionID, seen map[partitionKey]bool) refusal {
	if t == nil {
		return refuse(kafka.UnknownTopicOrPartition, "there is no such topic")
	}
	if t.Partition(id) == nil {
		return refuse(kafka.UnknownTopicOrPartition, "topic %q has %d partitions", t.Name, t.partitions.count)
	}
	k := partitionKey{t.ID, id}
	if seen[k] {
		return refuse(kafka.InvalidRequest, "the request names the partition twice")
	}
	seen[k] = true
	return e.decide(t, id)
}

func (e *elections) decide(t *Topic, id kafka.PartitionID) refusal {
	p := t.Partition(id)
	u := PartitionUpdate{ID: id, NewEpoch: true, Standing: p.Standing}
	switch e.kind {
	case PreferredElection:
		if p.Leader == p.Replicas[0] {
			return refuse(kafka.ElectionNotNeeded, "broker %d leads already", p.Leader)
		}
		if !p.preferredIsReady() {
			return refuse(kafka.PreferredLeaderNotAvailable, "broker %d is not in sync", p.Replicas[0])
		}
		u.Leader = p.Replicas[0]
	default:
		if p.Leader != kafka.NoBroker {
			return refuse(kafka.ElectionNotNeeded, "broker %d leads", p.Leader)
		}
		leader := e.event.anyOf(p)
		if leader == kafka.NoBroker {
			return refuse(kafka.EligibleLeadersNotAvailable, "none of the brokers %v is active", p.Replicas)
		}
		u.uncleanly(leader)
		u.LastKnownLeader = kafka.NoBroker
	}
	e.changes.update(t, u)
	return refusal{}
}

// preferredIsReady says whether the first replica does not lead although it might.
func (p *Partition) preferredIsReady() bool {
	return p.Leader != p.Replicas[0] && slices.Contains(p.ISR, p.Replicas[0])
}
