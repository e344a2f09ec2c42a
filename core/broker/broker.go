package broker

import (
	"fmt"
	"math/rand/v2"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
	"stet/core/wire"
)

// Broker is the loop's state. One goroutine at a time may call it.
type Broker struct {
	static   *Config // what the process was started with
	config   *Config // what is in force: static under what the metadata set for brokers
	identity env.Identity
	random   *rand.Rand // identities: directories, deletions

	now env.Now      // of the turn
	out *env.Effects `digest:"-"` // of the turn, nil between turns

	image       *metadata.Image // as far as the controllers' log was read
	acted       *metadata.Image // as far as the replicas here follow it
	phase       phase
	fatal       error
	directories []directory

	tokens  uint64            // made by nextToken
	pending map[env.Token]any // who is told of a completion; see complete

	timers    timers
	conns     map[env.ConnID]*conn
	links     links
	link      controllerLink // to the controller
	follower  metadataFollower
	register  registration
	departure departure
	host      host
	produces  produceWaits
	sessions  *sessionCache
	fetches   fetchLoop
	fetchers  replicaFetchers
	isr       isrKeeper
	alter     alterPartition
	creates   topicWaits
	ids       producerIDs

	offsetWaits map[uint64]*offsetsWait // by number
	offsetSeq   uint64

	saving   checkpoints
	expiry   partition.ExpiryClock
	expiring timer

	Metrics Metrics

	produceResponse wire.ProduceResponse `digest:"-"` // scratch
	fetchResponse   wire.FetchResponse   `digest:"-"` // scratch
	outcomes        []partition.Outcome  `digest:"-"` // scratch
	lookups         []partition.Lookup   `digest:"-"` // scratch
	answers         []answeredPartition  `digest:"-"` // scratch
	batches         []env.BufRef         `digest:"-"` // scratch
}

// phase is how far the process is between start and stop.
type phase uint8

const (
	phaseNew      phase = iota // no turn yet
	phaseReading               // a job reads the data directories
	phaseRunning               // serves
	phaseStopping              // a Shutdown closes the logs
	phaseMarking               // a job writes the clean-start markers
	phaseStopped
)

// New makes a broker that has not started: the first turn emits the job that reads the data
// directories. The config belongs to the broker from now on and is not written by it.
func New(config *Config, identity env.Identity, streams Streams) *Broker {
	b := &Broker{
		static:   config,
		config:   config.inForce(metadata.Empty()),
		identity: identity,
		random:   streams(env.UseIdentity),
		image:    metadata.Empty(),
		acted:    metadata.Empty(),
		pending:  map[env.Token]any{},
		conns:    map[env.ConnID]*conn{},

		offsetWaits: map[uint64]*offsetsWait{},
		sessions:    newSessionCache(config.FetchSessionSlots, streams(env.UseSessionID)),
	}
	b.links.byConn = map[env.ConnID]*link{}
	b.link.begin()
	b.host = newHost()
	return b
}

// Turn consumes events in order and appends what they cause to out, which the caller has Reset.
// It sets out.Wake to the next deadline.
func (b *Broker) Turn(now env.Now, in []env.Event, out *env.Effects) {
	b.now, b.out = now, out
	if b.phase == phaseNew {
		b.begin()
	}
	for i := range in {
		b.event(&in[i])
	}
	for subject := b.timers.expired(now.Mono); subject != nil; {
		b.expired(subject)
		subject = b.timers.expired(now.Mono)
	}
	b.fetches.wake(b)
	b.creates.look(b)
	b.host.pump(b)
	b.fetchers.pump(b)
	b.alter.pump(b)
	b.pumpShutdown()
	out.WakeBy(b.timers.next())
	b.out = nil
}

// Ready says whether the broker has registered, has read the metadata up to where it is unfenced, so
// that it counts among the available ones, and has recovered every replica it hosts: clients are
// answered in full.
func (b *Broker) Ready() bool {
	return b.phase == phaseRunning && b.register.unfenced && b.host.unsettled == 0
}

// ClusterID returns the cluster's id, and "" until it is known.
func (b *Broker) ClusterID() string { return b.image.ClusterID() }

// Stopped says whether a Shutdown is complete: nothing of the broker is left to perform.
func (b *Broker) Stopped() bool { return b.phase == phaseStopped }

// Fatal returns why the broker can not go on (a directory of another cluster, for example), or
// nil. The node stops the process with it.
func (b *Broker) Fatal() error { return b.fatal }

// Image returns the metadata that the broker acts on, for inspection between turns.
func (b *Broker) Image() *metadata.Image { return b.image }

// Replica returns the replica of a partition that this broker hosts, or nil. For inspection
// between turns.
func (b *Broker) Replica(tp kafka.TopicPartition) *partition.Replica {
	topic := b.image.Topic(tp.Topic)
	if topic == nil {
		return nil
	}
	if h := b.host.find(topic.ID, tp.Partition); h != nil {
		return h.Replica
	}
	return nil
}

func (b *Broker) fail(format string, args ...any) {
	if b.fatal == nil {
		b.fatal = fmt.Errorf(format, args...)
	}
}

// event routes one event to the type whose duty it is.
func (b *Broker) event(ev *env.Event) {
	switch ev.Kind {
	case env.EventRequest:
		b.request(ev)
	case env.EventFileDone:
		if h := b.host.owned(ev.File.Owner()); h != nil {
			h.OnFileDone(ev, b.out)
			b.afterReplica(h)
		}
	case env.EventJobDone:
		if h := b.host.owned(ev.Token.Owner()); h != nil {
			h.OnJobDone(ev, b.out)
			b.afterReplica(h)
			return
		}
		b.complete(ev)
	case env.EventResponse:
		b.links.response(b, ev)
	case env.EventResponseSent:
		b.complete(ev)
	case env.EventConnOpened:
		b.connOpened(ev)
	case env.EventConnClosed:
		b.connClosed(ev)
	case env.EventConfig:
		b.configure(ev.Res)
	}
}

// completion is told that an effect under a token of the loop itself is done.
type completion interface {
	completed(b *Broker, ev *env.Event)
}

// nextToken makes a token under which c will be told.
func (b *Broker) nextToken(c completion) env.Token {
	b.tokens++
	token := env.MakeToken(0, b.tokens)
	b.pending[token] = c
	return token
}

// complete tells whoever waits. A token that is not known was given up meanwhile.
func (b *Broker) complete(ev *env.Event) {
	if c, ok := b.pending[ev.Token].(completion); ok {
		delete(b.pending, ev.Token)
		c.completed(b, ev)
	}
}

// startJob runs a job of the loop's own.
func (b *Broker) startJob(job env.Job, c completion) {
	b.out.Jobs = append(b.out.Jobs, env.JobStart{Token: b.nextToken(c), Job: job})
}

// deadline is told that its timer has fired.
type deadline interface {
	due(b *Broker)
}

func (b *Broker) expired(subject any) { subject.(deadline).due(b) }

func (b *Broker) configure(res any) {
	switch c := res.(type) {
	case Shutdown:
		b.beginShutdown()
	case *Config:
		b.static = c
		b.reconfigure()
	}
}

// reconfigure puts a changed configuration in force. What is derived from it for each topic follows.
func (b *Broker) reconfigure() {
	b.config = b.static.inForce(b.image)
	b.sessions.slots = b.config.FetchSessionSlots
	for _, h := range b.host.all {
		if topic := b.image.TopicByID(h.TopicID); topic != nil && h.State() != partition.Gone {
			b.configureReplica(h, topic)
		}
	}
}
