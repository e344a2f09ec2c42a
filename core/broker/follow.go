package broker

import (
	"time"

	"stet/core/env"
	"stet/core/metadata"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	metadataFetchBytes = 1 << 20
	metadataFetchWait  = 5 * time.Second
	controllerPause    = 50 * time.Millisecond // before a request is tried again
)

// metadataFollower reads the controller's log and keeps the broker's image up to date.
type metadataFollower struct {
	under  bool // a fetch is under way
	paused timer
}

// follow asks for what comes after the image, unless that is under way already.
func (b *Broker) follow() {
	f := &b.follower
	if f.under || f.paused.place != 0 || !b.link.up() || b.phase != phaseRunning {
		return
	}
	f.under = true
	b.link.send(b, &wire.MetadataFetchRequest{
		BrokerID:  int32(b.config.NodeID),
		FromIndex: int64(b.image.Index()) + 1,
		MaxBytes:  metadataFetchBytes,
		MaxWaitMs: int32(metadataFetchWait / time.Millisecond),
	}, f)
}

func (f *metadataFollower) answered(b *Broker, res kmsg.Response, err env.Errno) {
	f.under = false
	r, ok := res.(*wire.MetadataFetchResponse)
	if err != env.OK || !ok || r.ErrorCode != 0 {
		b.timers.set(&f.paused, b.now.Mono.Add(controllerPause), f)
		return
	}
	image, failure := f.apply(b.image, r)
	if failure != nil {
		b.fail("apply metadata after index %d: %w", b.image.Index(), failure)
		return
	}
	if image != b.image {
		before := b.image
		b.image = image
		b.imageChanged(before)
	}
	b.follow()
}

func (f *metadataFollower) apply(image *metadata.Image, r *wire.MetadataFetchResponse) (
	*metadata.Image, error,
) {
	var err error
	if r.Snapshot != nil {
		if image, err = metadata.DecodeSnapshot(r.Snapshot); err != nil {
			return nil, err
		}
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		if image, err = image.ApplyEntry(metadata.Index(e.Index), e.Record); err != nil {
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
	b.follow()
	b.register.begin(b)
	b.creates.linkOpened(b)
}

// imageChanged acts on a new image, which b.image is already.
func (b *Broker) imageChanged(before *metadata.Image) {
	b.checkCluster()
	b.register.begin(b)
	first := b.register.catchUp(b)
	b.register.look(b)
	delta := metadata.Diff(before, b.image)
	b.host.follow(b, &delta)
	if first {
		b.host.leadAll(b)
		b.host.removeStrays(b)
	}
	b.creates.imageChanged()
}

// checkCluster refuses a cluster that is not the directories', and marks new directories as this
// cluster's.
func (b *Broker) checkCluster() {
	id := b.image.ClusterID()
	if id == "" {
		return
	}
	if want := b.config.ClusterID; want != "" && want != id {
		b.fail("the controller is of cluster %s, want %s", id, want)
		return
	}
	for i := range b.directories {
		d := &b.directories[i]
		if d.meta.ClusterID != "" && d.meta.ClusterID != id {
			b.fail("data directory %s is of cluster %s, the controller of %s",
				b.config.Directories[i], d.meta.ClusterID, id)
			return
		}
		if d.meta.ClusterID == "" && !d.formatting {
			b.format(env.DirID(i))
		}
	}
}
