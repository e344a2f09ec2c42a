package broker

import (
	"slices"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
)

// follow makes the hosted replicas what a new image says.
func (h *host) follow(b *Broker, d *metadata.Delta) {
	for _, topic := range d.TopicsRemoved {
		h.removeTopic(b, topic)
	}
	for _, topic := range d.TopicsCreated {
		for id := range topic.PartitionCount() {
			h.partition(b, topic, kafka.PartitionID(id))
		}
	}
	for i := range d.TopicsChanged {
		h.change(b, &d.TopicsChanged[i])
	}
	for _, r := range d.Resources {
		if b.ownSettings(r) {
			b.reconfigure()
			break
		}
	}
}

func (h *host) change(b *Broker, change *metadata.TopicChange) {
	for _, p := range change.Partitions {
		h.partition(b, change.After, p.ID)
	}
	if !change.Configs {
		return
	}
	for id := range change.After.PartitionCount() {
		if r := h.find(change.After.ID, kafka.PartitionID(id)); r != nil {
			b.configureReplica(r, change.After)
		}
	}
}

// partition adds, leads or gives up this broker's replica of a partition.
func (h *host) partition(b *Broker, topic *metadata.Topic, id kafka.PartitionID) {
	p := topic.Partition(id)
	r := h.find(topic.ID, id)
	switch here := p.HasReplica(b.config.NodeID); {
	case !here && r != nil:
		h.remove(b, r)
		return
	case !here:
		return
	case r == nil:
		r = h.admit(b, topic, id, p)
	}
	if r != nil {
		r.leadOrFollow(b, p)
	}
}

// admit finds the directory of a replica, or makes one.
func (h *host) admit(b *Broker, topic *metadata.Topic, id kafka.PartitionID,
	p *metadata.Partition,
) *hosted {
	r := h.takeStray(topic.ID, topic.Name, id)
	if r != nil {
		r.loading = true
		h.loading++
	} else {
		dir := h.directoryFor(b, p)
		r = h.add(b, dir, partition.Identity{
			Topic: topic.Name, TopicID: topic.ID,
			Partition: id, Broker: b.config.NodeID,
		}, false, partition.Checkpointed{}, false)
	}
	h.byKey[hostKey{topic.ID, id}] = r
	h.unsettled++
	b.configureReplica(r, topic)
	h.enqueue(r)
	return r
}

// takeStray finds a replica that was on disk at the start, by topic id: a directory of the same
// name may belong to a former life of the topic (checks.md M2). One that does not say its id was
// being created, or is corrupt; recovery tells which.
func (h *host) takeStray(topic kafka.TopicID, name string, id kafka.PartitionID) *hosted {
	for _, want := range []kafka.TopicID{topic, {}} {
		for i, r := range h.strays {
			if r.Topic != name || r.Partition != id ||
				r.TopicID != want && !invariant.CanaryReplicaByName.On() {
				continue
			}
			r.TopicID = topic
			h.strays = slices.Delete(h.strays, i, i+1)
			return r
		}
	}
	return nil
}

// removeStrays deletes what was on disk at the start and is no part of the metadata any more: of
// topics that were deleted or moved away while this broker was not there.
func (h *host) removeStrays(b *Broker) {
	strays := h.strays
	h.strays = nil
	for _, r := range strays {
		invariant.Sometimes(true, invariant.MarkStrayRemoved)
		h.unsettled++
		h.remove(b, r)
	}
}

// directoryFor chooses the data directory of a new replica: the one that is assigned, else the one
// with the fewest replicas.
func (h *host) directoryFor(b *Broker, p *metadata.Partition) env.DirID {
	assigned := p.Directory(b.config.NodeID).String()
	counts := make([]int, len(b.directories))
	for _, r := range h.all {
		if r.State() != partition.Gone {
			counts[r.Handles().Dir()]++
		}
	}
	best := 0
	for i := range b.directories {
		if b.directories[i].meta.DirectoryID == assigned {
			return env.DirID(i)
		}
		if counts[i] < counts[best] {
			best = i
		}
	}
	return env.DirID(best)
}

// leadOrFollow passes on who leads.
func (r *hosted) leadOrFollow(b *Broker, p *metadata.Partition) {
	if b.phase != phaseRunning {
		return
	}
	if p.Leader == b.config.NodeID {
		r.Lead(partition.Leadership{
			Epoch: p.LeaderEpoch, PartitionEpoch: p.Epoch, ISR: p.ISR, Replicas: p.Replicas,
			Recovering: p.Recovering, ReplicationFactor: p.ReplicationFactor(),
		}, b.out)
	} else {
		r.Follow(partition.Following{
			Leader: p.Leader, Epoch: p.LeaderEpoch, PartitionEpoch: p.Epoch,
		}, b.out)
	}
	b.fetchers.follow(b, r)
	b.afterReplica(r)
}

func (h *host) removeTopic(b *Broker, topic *metadata.Topic) {
	for id := range topic.PartitionCount() {
		if r := h.find(topic.ID, kafka.PartitionID(id)); r != nil {
			h.remove(b, r)
		}
	}
}

// remove deletes a replica and forgets it; what waits for it is answered.
func (h *host) remove(b *Broker, r *hosted) {
	invariant.Sometimes(r.LogEndOffset() > 0, invariant.MarkTopicDeleted)
	delete(h.byKey, hostKey{r.TopicID, r.Partition})
	b.timers.clear(&r.again)
	b.fetchers.drop(b, r)
	h.loaded(b, r)
	r.Delete([16]byte(b.randomID()), b.out)
	b.afterReplica(r)
}
