package metadata

import "stet/core/kafka"

// NewReplicas asks for the replicas of one partition, in order of preference.
type NewReplicas struct {
	Topic    string
	ID       kafka.PartitionID
	Replicas []kafka.BrokerID // nil: those before the reassignment that is under way
}

// ReassignedPartition is the outcome for one partition.
type ReassignedPartition struct {
	Topic   string
	ID      kafka.PartitionID
	Error   kafka.ErrorCode
	Message string
}

// AlterReassignments decides on one AlterPartitionReassignments request. The partitions are independent of
// each other. factorMayChange says that a partition may get more or fewer replicas than it has.
func AlterReassignments(image *Image, asked []NewReplicas, factorMayChange bool) (
	records []Record, outcomes []ReassignedPartition, code kafka.ErrorCode,
) {
	if !image.Features().reassigns() {
		return nil, nil, kafka.UnsupportedVersion
	}
	d := reassigning{
		image: image, base: image.ClusterTopicConfig(kafka.DefaultTopicConfig()),
		event:           event{active: activeBrokers(image, nil, kafka.NoBroker)},
		factorMayChange: factorMayChange,
	}
	seen := map[partitionKey]bool{}
	for i := range asked {
		a := &asked[i]
		r := d.decide(a, seen)
		outcomes = append(outcomes, ReassignedPartition{a.Topic, a.ID, r.code, r.text})
	}
	return d.changes.records(), outcomes, kafka.None
}

// reassigning is a request that is being decided on.
type reassigning struct {
	image           *Image
	base            kafka.TopicConfig // of topics that set nothing
	event           event
	directories     directoryLoad // nil: not counted yet
	factorMayChange bool
	changes         changes
}

func (d *reassigning) decide(a *NewReplicas, seen map[partitionKey]bool) refusal {
	t := d.image.Topic(a.Topic)
	if t == nil || t.Partition(a.ID) == nil {
		return refuse(kafka.UnknownTopicOrPartition, "there is no partition %d of topic %q", a.ID, a.Topic)
	}
	p, k := t.Partition(a.ID), partitionKey{t.ID, a.ID}
	if seen[k] {
		return refuse(kafka.InvalidRequest, "the request names the partition twice")
	}
	seen[k] = true
	target := a.Replicas
	if target == nil {
		if p.Reassignment == nil {
			return refuse(kafka.NoReassignmentInProgress, "no reassignment of the partition is under way")
		}
		target = p.origin()
	} else if r := d.check(p, a); r.refused() {
		return r
	}
	config := TopicConfig(d.base, t.configs)
	after := p.reassigned(target, rulesOf(&config, p))
	if after == nil {
		return refuse(kafka.InvalidReplicaAssignment,
			"too few replicas in sync would be left: wait until brokers %v are", difference(target, p.ISR))
	}
	if after.reassignedAs(p) {
		return refusal{}
	}
	d.assign(p, after)
	if after.Leader == kafka.NoBroker { // a topic may allow one of the new replicas to lead
		after.Standing = d.event.settle(after, rulesOf(&config, after))
		after.startEpoch(p)
		after = after.completed(p)
	}
	d.changes.replace(t, a.ID, after)
	return refusal{}
}

// check judges the replicas that are asked for.
func (d *reassigning) check(p *Partition, a *NewReplicas) refusal {
	if r := checkReplicas(d.image, &Assignment{a.ID, a.Replicas}); r.refused() {
		return r
	}
	if had := len(p.target()); !d.factorMayChange && had != len(a.Replicas) {
		return refuse(kafka.InvalidReplicationFactor, "the replication factor is changed from %d to %d", had, len(a.Replicas))
	}
	return refusal{}
}

// assign chooses directories for the replicas that are new.
func (d *reassigning) assign(p, after *Partition) {
	added := difference(after.Replicas, p.Replicas)
	if len(added) == 0 {
		return
	}
	if d.directories == nil {
		d.directories = newDirectoryLoad(d.image)
	}
	directories := make([]DirectoryID, len(after.Replicas))
	for i, id := range after.Replicas {
		if directories[i] = after.Directory(id); !p.HasReplica(id) {
			directories[i] = d.directories.choose(d.image.Broker(id))
		}
	}
	after.Directories = assignedDirectories(directories)
}
