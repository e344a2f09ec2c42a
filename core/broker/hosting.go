package broker

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
)

// hostDelta makes the hosted replicas what a new image says.
func (b *Broker) hostDelta(d *metadata.Delta) {
	for _, topic := range d.TopicsRemoved {
		b.unhostTopic(topic)
	}
	for _, topic := range d.TopicsCreated {
		for id := range topic.PartitionCount() {
			b.hostPartition(topic, kafka.PartitionID(id))
		}
	}
	for i := range d.TopicsChanged {
		b.rehostTopic(&d.TopicsChanged[i])
	}
	for _, r := range d.Resources {
		if r.Type == metadata.ResourceBroker {
			b.reconfigure(b.config)
			break
		}
	}
}

func (b *Broker) rehostTopic(change *metadata.TopicChange) {
	for _, p := range change.Partitions {
		b.hostPartition(change.After, p.ID)
	}
	if !change.Configs {
		return
	}
	for id := range change.After.PartitionCount() {
		if r := b.host.find(change.After.ID, kafka.PartitionID(id)); r != nil {
			b.configureReplica(r, change.After)
		}
	}
}

// hostPartition adds, leads or gives up this broker's replica of a partition.
func (b *Broker) hostPartition(topic *metadata.Topic, id kafka.PartitionID) {
	p := topic.Partition(id)
	r := b.host.find(topic.ID, id)
	switch here := p.HasReplica(b.config.NodeID); {
	case !here && r != nil:
		b.removeReplica(r)
		return
	case !here:
		return
	case r == nil:
		r = b.hostReplica(topic, id, p)
	}
	if r != nil {
		b.leadOrNot(r, p)
	}
}

// hostReplica finds the directory of a replica, or makes one.
func (b *Broker) hostReplica(topic *metadata.Topic, id kafka.PartitionID,
	p *metadata.Partition,
) *hosted {
	h := &b.host
	r := h.takeStray(topic.ID, topic.Name, id)
	if r == nil {
		dir := b.directoryFor(p)
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
	for i, r := range h.strays {
		if r.Topic != name || r.Partition != id ||
			r.TopicID != topic && r.TopicID != (kafka.TopicID{}) {
			continue
		}
		r.TopicID = topic
		h.strays = append(h.strays[:i], h.strays[i+1:]...)
		return r
	}
	return nil
}

// removeStrays deletes what was on disk at the start and is no part of the metadata any more. The
// image is complete up to this process's registration, so nothing is deleted because the metadata
// were only half read.
func (b *Broker) removeStrays() {
	strays := b.host.strays
	b.host.strays = nil
	for _, r := range strays {
		b.host.unsettled++
		b.removeReplica(r)
	}
}

// directoryFor chooses the data directory of a new replica: the one that is assigned, else the one
// with the fewest replicas.
func (b *Broker) directoryFor(p *metadata.Partition) env.DirID {
	assigned := p.Directory(b.config.NodeID).String()
	counts := make([]int, len(b.directories))
	for _, r := range b.host.all {
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

// leadOrNot passes on who leads, once the image is not older than this process.
func (b *Broker) leadOrNot(r *hosted, p *metadata.Partition) {
	if !b.register.caughtUp || b.phase != phaseRunning {
		return
	}
	if p.Leader == b.config.NodeID {
		r.Lead(partition.Leadership{
			Epoch: p.LeaderEpoch, PartitionEpoch: p.Epoch, ISR: p.ISR,
			ReplicationFactor: len(p.Replicas),
		}, b.out)
	} else if r.Leading() {
		r.Resign()
	}
	b.afterReplica(r)
}

// leadAll passes on who leads every hosted partition.
func (b *Broker) leadAll() {
	for _, r := range b.host.all {
		topic := b.image.TopicByID(r.TopicID)
		if topic == nil || b.host.find(r.TopicID, r.Partition) != r {
			continue
		}
		if p := topic.Partition(r.Partition); p != nil {
			b.leadOrNot(r, p)
		}
	}
}

func (b *Broker) unhostTopic(topic *metadata.Topic) {
	for id := range topic.PartitionCount() {
		if r := b.host.find(topic.ID, kafka.PartitionID(id)); r != nil {
			b.removeReplica(r)
		}
	}
}

// removeReplica deletes a replica and forgets it; what waits for it is answered.
func (b *Broker) removeReplica(r *hosted) {
	invariant.Sometimes(r.LogEndOffset() > 0, invariant.MarkTopicDeleted)
	delete(b.host.byKey, hostKey{r.TopicID, r.Partition})
	b.timers.clear(&r.again)
	r.Delete([16]byte(b.randomID()), b.out)
	b.afterReplica(r)
}
