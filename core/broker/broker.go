package broker

import (
	"stet/core/env"
)

// Broker is the loop's state. One goroutine at a time may call it.
type Broker struct {
	config   *Config
	identity env.Identity
}

// New makes a broker that has not started: the first turn emits the job that reads the data
// directories. The config belongs to the broker from now on and is not written by it.
func New(config *Config, identity env.Identity, streams Streams) *Broker {
	return &Broker{config: config, identity: identity}
}

// Turn consumes events in order and appends what they cause to out, which the caller has Reset.
// It sets out.Wake to the next deadline.
func (b *Broker) Turn(now env.Now, in []env.Event, out *env.Effects) {
	panic("not yet")
}

// Ready says whether the broker has registered, has read the metadata up to its registration and
// has recovered every replica it hosts, so that clients are answered in full.
func (b *Broker) Ready() bool { return false }

// ClusterID returns the cluster's id, and "" until it is known.
func (b *Broker) ClusterID() string { return "" }

// Stopped says whether a Shutdown is complete: nothing of the broker is left to perform.
func (b *Broker) Stopped() bool { return false }

// Fatal returns why the broker can not go on (a directory of another cluster, for example), or
// nil. The node stops the process with it.
func (b *Broker) Fatal() error { return nil }
