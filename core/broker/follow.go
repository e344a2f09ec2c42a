package broker

import (
	"fmt"
	"time"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/wire"
)

const metadataFetchWait = 5 * time.Second

// metadataFollower reads the controllers' log and keeps the broker's image up to date. The image never
// goes back, whichever controller answers.
type metadataFollower struct {
	under  bool // a fetch is under way
	paused timer
	// current is the link over which the image last had all that the controller had committed.
	current env.ConnID
}

// follow asks for what comes after the image, unless that is under way already.
func (b *Broker) follow() {
	f := &b.follower
	if f.under || f.paused.place != 0 || !b.link.up() || b.phase != phaseRunning {
		return
	}
	wait := metadataFetchWait
	if f.current != b.link.conn {
		wait = 0 // where the controller is, is wanted now
	}
	f.under = true
	b.link.sendVital(b, wait+b.linkPatience(), &wire.MetadataFetchRequest{
		BrokerID:  int32(b.config.NodeID),
		ClusterID: b.image.ClusterID(),
		FromIndex: int64(b.image.Index()) + 1,
		MaxBytes:  b.config.MetadataFetchBytes,
		MaxWaitMs: int32(wait / time.Millisecond),
	}, f)
}

// leastPatience is longer than a controller that lives is kept from running, as a rule.
const leastPatience = 500 * time.Millisecond

// linkPatience is how long a live controller may take to answer what it need not wait for.
func (b *Broker) linkPatience() time.Duration {
	return max(2*b.config.HeartbeatInterval, leastPatience)
}

func (f *metadataFollower) answered(b *Broker, res any, err env.Errno) {
	f.under = false
	r, ok := res.(*wire.MetadataFetchResponse)
	if err != env.OK || !ok {
		f.pause(b)
		return
	}
	switch code := kafka.ErrorCode(r.ErrorCode); code {
	case kafka.None:
		b.link.worked()
		f.take(b, r)
	case kafka.NotController:
		b.link.learn(b, kafka.ControllerAddress{Node: kafka.BrokerID(r.LeaderID), Addr: r.LeaderAddress})
		b.link.leadsNot(b, kafka.BrokerID(r.LeaderID))
		f.pause(b)
	case kafka.InconsistentClusterID:
		b.fail("the controller at %s is of another cluster than %s", b.link.peer(b), b.image.ClusterID())
	default:
		// It has committed less than this broker has seen (OFFSET_OUT_OF_RANGE): it was deposed and does
		// not know yet, or its directory was exchanged.
		b.link.leadsNot(b, kafka.NoBroker)
		f.pause(b)
	}
}

func (f *metadataFollower) pause(b *Broker) {
	b.timers.set(&f.paused, b.now.Mono.Add(linkPause), f)
}

// take applies an answer and asks for the next.
func (f *metadataFollower) take(b *Broker, r *wire.MetadataFetchResponse) {
	image, err := f.apply(b.image, b.config.Levels, r)
	if err != nil {
		b.fail("apply metadata after index %d: %w", b.image.Index(), err)
		return
	}
	if err := b.checkCluster(image); err != nil {
		b.fail("%w", err)
		return
	}
	if int64(image.Index()) >= r.CommittedIndex {
		f.current = b.link.conn
	} else if image == b.image {
		f.pause(b) // it has more, and gave nothing
		return
	}
	if image != b.image {
		b.image = image
		b.imageChanged()
	}
	b.register.begin(b)
	b.follow()
}

// apply returns the image after an answer. What is older than the image was applied before.
func (f *metadataFollower) apply(image *metadata.Image, levels metadata.Levels,
	r *wire.MetadataFetchResponse,
) (*metadata.Image, error) {
	if r.Snapshot != nil {
		newer, err := levels.DecodeSnapshot(r.Snapshot)
		if err != nil {
			return nil, err
		}
		if newer.Index() > image.Index() {
			image = newer
		}
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		if metadata.Index(e.Index) <= image.Index() {
			continue
		}
		var err error
		if image, err = levels.ApplyEntry(image, metadata.Index(e.Index), e.Record); err != nil {
			return nil, err
		}
	}
	return image, nil
}

func (f *metadataFollower) due(b *Broker) { b.follow() }

// linkOpened does what could not be done without a link.
func (b *Broker) linkOpened() {
	if b.phase != phaseRunning {
		return
	}
	b.timers.clear(&b.follower.paused)
	b.follow()
	if b.register.known {
		b.register.heartbeat(b)
	}
	b.creates.linkOpened(b)
}

// imageChanged acts on a new image.
func (b *Broker) imageChanged() {
	b.markDirectories()
	behind := !b.register.caughtUp
	b.register.look(b)
	b.act()
	if behind {
		b.register.fit(b)
	}
}

// act makes what this broker hosts what the image says. Until the image has had this process's
// registration it may be half of what there is, or older than what lies in the directories: nothing
// is led by it, and above all nothing is deleted.
func (b *Broker) act() {
	if !b.register.caughtUp && !invariant.CanaryStraysOfHalfAnImage.On() {
		return
	}
	delta := metadata.Diff(b.acted, b.image)
	b.acted = b.image
	b.host.follow(b, &delta)
	b.host.removeStrays(b)
	if len(delta.Brokers) > 0 {
		b.fetchers.brokersChanged(b)
		b.isr.brokersChanged(b, delta.Brokers)
	}
	b.creates.imageChanged()
}

// checkCluster returns why the image is not of the directories' cluster, or nil.
func (b *Broker) checkCluster(image *metadata.Image) error {
	id := image.ClusterID()
	if id == "" {
		return nil
	}
	if want := b.config.ClusterID; want != "" && want != id {
		return fmt.Errorf("the controller is of cluster %s, want %s", id, want)
	}
	for i := range b.directories {
		if of := b.directories[i].meta.ClusterID; of != "" && of != id {
			return fmt.Errorf("data directory %s is of cluster %s, the controller of %s",
				b.config.Directories[i], of, id)
		}
	}
	return nil
}

// markDirectories marks new directories as this cluster's.
func (b *Broker) markDirectories() {
	for i := range b.directories {
		d := &b.directories[i]
		if d.meta.ClusterID == "" && !d.formatting && b.image.ClusterID() != "" {
			b.format(env.DirID(i))
		}
	}
}
