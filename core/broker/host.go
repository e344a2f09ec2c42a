package broker

import (
	"time"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
)

// hosted is a replica of this broker, with what the broker adds to it.
type hosted struct {
	*partition.Replica
	watchers []*fetchPartition // fetches that want to hear of changes

	working bool  // holds one of the host's job slots
	queued  bool  // waits for one
	settled bool  // has been seen in order, or damaged, since it was added
	again   timer // for a failed job
	pause   time.Duration

	// next lives in the same directory name, and begins when this replica is gone.
	next *hosted
}

// hostKey names a replica for ever: a topic's id is never used again.
type hostKey struct {
	topic     kafka.TopicID
	partition kafka.PartitionID
}

// host holds the replicas of this broker, adds and removes them as the metadata say, and bounds
// how many are being created or recovered at once.
type host struct {
	all   []*hosted // by owner - 1; never shrinks, as owners are never used again
	byKey map[hostKey]*hosted
	// occupants are the replicas that own, or will be first to own, a directory name.
	occupants map[env.Path]*hosted
	queue     []*hosted // want a job slot
	working   int
	unsettled int // replicas that are on their way into service
	strays    []*hosted
}

const (
	firstPause = 100 * time.Millisecond // before a failed job is tried again, doubled each time
	mostPause  = 30 * time.Second
)

func newHost() host {
	return host{byKey: map[hostKey]*hosted{}, occupants: map[env.Path]*hosted{}}
}

// owned returns the replica with the owner index, or nil.
func (h *host) owned(owner env.Owner) *hosted {
	if owner == 0 || int(owner) > len(h.all) {
		return nil
	}
	return h.all[owner-1]
}

// find returns the replica of a partition, or nil if it is not hosted here.
func (h *host) find(topic kafka.TopicID, id kafka.PartitionID) *hosted {
	return h.byKey[hostKey{topic, id}]
}

// adopt takes over the replicas that a data directory holds. Whether they are wanted is known
// once the metadata have caught up; until then they are only candidates.
func (h *host) adopt(b *Broker, dir env.DirID, found *foundDirectory) {
	for _, name := range found.leftover {
		b.startJob(&commitlog.RemoveDeletedJob{Path: env.Path{Dir: dir, Name: name}}, ignored{})
	}
	for i := range found.replicas {
		r := &found.replicas[i]
		start := partition.Checkpointed{RecoveryPoint: r.start.recoveryPoint,
			LogStart: r.start.logStart, HighWatermark: r.start.highWatermark}
		replica := h.add(b, dir, partition.Identity{Topic: r.name.Topic, TopicID: r.topicID,
			Partition: r.name.Partition, Broker: b.config.NodeID}, true, start, found.clean)
		h.strays = append(h.strays, replica)
	}
}

// ignored is told of what needs no reaction: a leftover that stays is tried again at next start.
type ignored struct{}

func (ignored) completed(*Broker, *env.Event) {}

// add makes a replica, which begins when its directory name is free.
func (h *host) add(b *Broker, dir env.DirID, id partition.Identity, exists bool,
	start partition.Checkpointed, clean bool) *hosted {
	owner := env.Owner(len(h.all) + 1)
	config, logConfig := b.settingsOf(nil)
	r := &hosted{pause: firstPause, Replica: partition.New(id, commitlog.NewHandles(dir, owner),
		config, logConfig, exists, start, clean)}
	h.all = append(h.all, r)
	if occupant := h.occupants[r.Path()]; occupant != nil {
		for occupant.next != nil {
			occupant = occupant.next
		}
		occupant.next = r
	} else {
		h.occupants[r.Path()] = r
	}
	return r
}

// begins says whether the replica owns its directory name.
func (h *host) begins(r *hosted) bool { return h.occupants[r.Path()] == r }

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
	p *metadata.Partition) *hosted {
	h := &b.host
	r := h.takeStray(topic.ID, topic.Name, id)
	if r == nil {
		dir := b.directoryFor(p)
		r = h.add(b, dir, partition.Identity{Topic: topic.Name, TopicID: topic.ID,
			Partition: id, Broker: b.config.NodeID}, false, partition.Checkpointed{}, false)
	}
	h.byKey[hostKey{topic.ID, id}] = r
	h.unsettled++
	b.configureReplica(r, topic)
	h.enqueue(r)
	return r
}

// takeStray finds a replica that was on disk at the start, by topic id: a directory of the same
// name may belong to a former life of the topic (checks.md M2).
func (h *host) takeStray(topic kafka.TopicID, name string, id kafka.PartitionID) *hosted {
	for i, r := range h.strays {
		if r.TopicID == topic && r.Topic == name && r.Partition == id {
			h.strays = append(h.strays[:i], h.strays[i+1:]...)
			return r
		}
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
		r.Lead(partition.Leadership{Epoch: p.LeaderEpoch, PartitionEpoch: p.Epoch, ISR: p.ISR,
			ReplicationFactor: len(p.Replicas)}, b.out)
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

// enqueue asks for a job slot, once the replica owns its directory name.
func (h *host) enqueue(r *hosted) {
	if !r.queued && !r.working && h.begins(r) &&
		(r.State() == partition.Absent || r.State() == partition.Waiting) {
		r.queued = true
		h.queue = append(h.queue, r)
	}
}

// fill looks again at everything that waits; called when a data directory has become usable.
func (h *host) fill(b *Broker) {
	for _, r := range h.all {
		if h.find(r.TopicID, r.Partition) == r && r.again.place == 0 {
			h.enqueue(r)
		}
	}
}

// pumpHost starts as many creations and recoveries as may run at once.
func (b *Broker) pumpHost() {
	h := &b.host
	for len(h.queue) > 0 && h.working < max(1, b.config.RecoveryJobs) && b.phase == phaseRunning {
		r := h.queue[0]
		h.queue = h.queue[1:]
		r.queued = false
		if b.directories[r.Handles().Dir()].meta.ClusterID == "" {
			continue // fill comes back to it when the directory is formatted
		}
		if r.State() == partition.Absent || r.State() == partition.Waiting {
			r.working = true
			h.working++
			b.advanceReplica(r)
		}
	}
}

// advanceReplica starts the job that a replica wants next.
func (b *Broker) advanceReplica(r *hosted) {
	switch r.State() {
	case partition.Absent:
		r.Create(b.out)
	case partition.Waiting:
		r.Recover(b.expiry.Advance(b.now), b.out)
	}
}

// afterReplica does what a replica's new state asks for. Call it after every call of a replica
// that takes an Effects.
func (b *Broker) afterReplica(r *hosted) {
	b.outcomes = r.Outcomes(b.outcomes[:0])
	for i := range b.outcomes {
		b.produces.finish(b, &b.outcomes[i])
	}
	b.lookups = r.Lookups(b.lookups[:0])
	for i := range b.lookups {
		b.offsetFound(&b.lookups[i])
	}
	b.step(r)
	if r.TakeChanged() {
		for _, p := range r.watchers {
			b.fetches.changed(p)
		}
	}
}

// step moves a replica on its way into or out of service.
func (b *Broker) step(r *hosted) {
	switch r.State() {
	case partition.Absent, partition.Waiting:
		b.stepWaiting(r)
	case partition.Online:
		b.release(r)
		r.pause = firstPause
		b.settledReplica(r)
		if b.phase == phaseStopping {
			r.Close(b.out)
		}
	case partition.Damaged:
		b.release(r)
		b.settledReplica(r)
	case partition.Fenced:
		b.release(r)
	case partition.Draining:
		b.release(r)
		b.retryLater(r)
	case partition.Gone:
		b.release(r)
		b.settledReplica(r)
		b.passOn(r)
	}
}

// stepWaiting goes on with a replica whose job is done, or that was fenced and let go of its log.
func (b *Broker) stepWaiting(r *hosted) {
	switch {
	case b.phase != phaseRunning:
		b.release(r)
	case r.Err() != nil:
		b.release(r)
		b.retryLater(r)
	case r.working:
		b.advanceReplica(r) // created: recover with the same slot
	case b.host.find(r.TopicID, r.Partition) == r && r.again.place == 0:
		b.host.enqueue(r)
	}
}

// retryLater tries a failed job again after a pause that grows.
func (b *Broker) retryLater(r *hosted) {
	if r.Err() == nil || r.again.place != 0 {
		return
	}
	b.timers.set(&r.again, b.now.Mono.Add(r.pause), r)
	r.pause = min(2*r.pause, mostPause)
}

// due tries a failed job again.
func (r *hosted) due(b *Broker) {
	if r.State() == partition.Draining {
		r.Retry(b.out)
		b.afterReplica(r)
		return
	}
	b.host.enqueue(r)
}

// release gives back a replica's job slot.
func (b *Broker) release(r *hosted) {
	if r.working {
		r.working = false
		b.host.working--
	}
}

// settledReplica counts a replica that has arrived, once.
func (b *Broker) settledReplica(r *hosted) {
	if r.settled {
		return
	}
	r.settled = true
	b.host.unsettled--
	b.creates.imageChanged()
}

// passOn gives the directory name of a replica that is gone to the next in line.
func (b *Broker) passOn(r *hosted) {
	h := &b.host
	path := r.Path()
	if h.occupants[path] != r {
		return
	}
	delete(h.occupants, path)
	if r.next != nil {
		h.occupants[path] = r.next
		h.enqueue(r.next)
		r.next = nil
	}
}
