package metadata

import (
	"slices"

	"stet/core/kafka"
)

// Reassignment is a change of the replicas of a partition that is under way. Those that come copy what
// the others have; when all that are to stay are in sync, those that go leave, in the same entry in which
// the last joins. Until then the partition has them all.
type Reassignment struct {
	Adding   []kafka.BrokerID // not counted by the replication factor yet
	Removing []kafka.BrokerID // the last of the replicas
}

// reassignment returns what is under way; a value without brokers if nothing is.
func (p *Partition) reassignment() Reassignment {
	if p.Reassignment == nil {
		return Reassignment{}
	}
	return *p.Reassignment
}

// ReplicationFactor is the number of replicas that are promised: those before a reassignment, as long as
// one is under way.
func (p *Partition) ReplicationFactor() int { return len(p.Replicas) - len(p.reassignment().Adding) }

// target returns the replicas that a partition has, or is to have, without those that go.
func (p *Partition) target() []kafka.BrokerID {
	return p.Replicas[:len(p.Replicas)-len(p.reassignment().Removing)]
}

// completed returns the partition with its reassignment at an end, if all that are to stay are in sync; p
// itself if not. p is what an entry makes of before, and the end is a part of the same step. Replicas that
// leave end the epoch of the leader, whoever that is: nothing that it knows of them outlives it, so that
// one that is added again begins anew.
func (p *Partition) completed(before *Partition) *Partition {
	target := p.target()
	if p.Reassignment == nil || !containsAllOf(p.ISR, target) {
		return p
	}
	done := p.withReplicas(target)
	done.Reassignment = nil
	done.ISR, done.ELR = slices.Clone(target), nil
	if !slices.Contains(target, done.Leader) {
		done.Leader = target[0]
	}
	done.startEpoch(before)
	return &done
}

// startEpoch begins an epoch of the leader if it is another or replicas have left, and none has begun in
// this step.
func (p *Partition) startEpoch(before *Partition) {
	if p.Leader != before.Leader || !containsAllOf(p.Replicas, before.Replicas) {
		p.LeaderEpoch = before.LeaderEpoch + 1
	}
}

// withReplicas returns the partition with other replicas, each in the directory that it has; zero for one
// that is new.
func (p *Partition) withReplicas(replicas []kafka.BrokerID) Partition {
	out := *p
	out.Replicas = slices.Clone(replicas)
	directories := make([]DirectoryID, len(replicas))
	for i, id := range replicas {
		directories[i] = p.Directory(id)
	}
	out.Directories = assignedDirectories(directories)
	return out
}

// assignedDirectories returns the list for a partition: nil if none is assigned.
func assignedDirectories(list []DirectoryID) []DirectoryID {
	if slices.ContainsFunc(list, func(d DirectoryID) bool { return d != DirectoryID{} }) {
		return list
	}
	return nil
}

// reassigned returns the partition on its way to other replicas, which may be those that it had before a
// reassignment that is under way. Of that one, what comes and is not wanted any more leaves at once; nil if
// too few would be left of those that hold all that is committed: fewer than have to be in sync.
func (p *Partition) reassigned(target []kafka.BrokerID, r rules) *Partition {
	origin := p.origin()
	next := Reassignment{Adding: difference(target, origin), Removing: difference(origin, target)}
	after := p.withReplicas(append(slices.Clone(target), next.Removing...))
	if after.Reassignment = nil; len(next.Adding)+len(next.Removing) > 0 {
		after.Reassignment = &next
	}
	gone := difference(p.Replicas, after.Replicas)
	after.ISR, after.ELR = difference(p.ISR, gone), difference(p.ELR, gone)
	lost := len(p.ISR)+len(p.ELR) > len(after.ISR)+len(after.ELR) || slices.Contains(gone, p.LastKnownLeader)
	if lost && (len(after.ISR) == 0 || len(after.ISR)+len(after.ELR) < r.minISR) {
		return nil
	}
	if slices.Contains(gone, p.Leader) {
		after.Leader = after.ISR[0]
	}
	after.Epoch++
	after.startEpoch(p)
	return after.completed(p)
}

// reassignedAs says whether the replicas, and which of them come and go, are those of another state.
func (p *Partition) reassignedAs(o *Partition) bool {
	a, b := p.reassignment(), o.reassignment()
	return slices.Equal(p.Replicas, o.Replicas) && slices.Equal(a.Adding, b.Adding) && slices.Equal(a.Removing, b.Removing)
}

// origin returns the replicas before a reassignment, or those that there are.
func (p *Partition) origin() []kafka.BrokerID { return difference(p.Replicas, p.reassignment().Adding) }

// difference returns the members of a that are not in b, in the order of a.
func difference(a, b []kafka.BrokerID) (out []kafka.BrokerID) {
	for _, id := range a {
		if !slices.Contains(b, id) {
			out = append(out, id)
		}
	}
	return out
}
