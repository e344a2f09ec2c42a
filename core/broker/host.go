package broker

import (
	"time"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
)

// hosted is a replica of this broker, with what the broker adds to it.
type hosted struct {
	*partition.Replica
	watchers []*fetchPartition // fetches that want to hear of changes

	copying  *copying // by whom it is copied from its leader; nil without one
	altering int      // 1 + its place among the alterations that wait; 0: none does
	// resigned is the epoch in which the controller is, or was, asked for another leader.
	resigned kafka.LeaderEpoch

	working bool  // holds one of the host's job slots
	queued  bool  // waits for one
	settled bool  // has been seen in service, damaged or failing since it was added
	loading bool  // counts in host.loading
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
	loading   int // of them: found in the directories at the start
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
		start := partition.Checkpointed{
			RecoveryPoint: r.start.recoveryPoint,
			LogStart:      r.start.logStart, HighWatermark: r.start.highWatermark,
		}
		replica := h.add(b, dir, partition.Identity{
			Topic: r.name.Topic, TopicID: r.topicID,
			Partition: r.name.Partition, Broker: b.config.NodeID,
		}, true, start, found.clean)
		for _, other := range h.strays {
			if other.Name() == r.name && other.TopicID == r.topicID && other.Handles().Dir() != dir {
				b.fail("%s is in data directories %s and %s", r.name,
					b.config.Directories[other.Handles().Dir()], b.config.Directories[dir])
			}
		}
		h.strays = append(h.strays, replica)
	}
}

// ignored is told of what needs no reaction: a leftover that stays is tried again at next start.
type ignored struct{}

func (ignored) completed(*Broker, *env.Event) {}

// add makes a replica, which begins when its directory name is free.
func (h *host) add(b *Broker, dir env.DirID, id partition.Identity, exists bool,
	start partition.Checkpointed, clean bool,
) *hosted {
	owner := env.Owner(len(h.all) + 1)
	config, logConfig := b.settingsOf(nil)
	r := &hosted{pause: firstPause, resigned: kafka.NoLeaderEpoch, Replica: partition.New(id, commitlog.NewHandles(dir, owner),
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
