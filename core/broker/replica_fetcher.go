package broker

import (
	"slices"
	"time"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// stragglerPause is how long the next fetch waits for partitions whose records are being written.
	stragglerPause = 10 * time.Millisecond
	// mostFetches is how many fetches of one leader are under way: a long poll, and one that interrupts
	// it because there is more to ask for. The leader answers the first at once when it has the second.
	mostFetches = 2

	fetchVersion = 18
)

// replicaFetcher copies what this broker follows from one leader, over a link and a fetch session of its
// own. While nothing happens it costs one long poll, whatever it copies.
type replicaFetcher struct {
	link
	leader kafka.BrokerID
	addr   string // dialled last
	over   bool   // nothing is copied from this leader any more

	all     []*copying
	queue   []*copying // may have a position that the leader does not know, or none that it knows
	writing int        // of all: were given records, and have no position again
	paused  []*copying // after an error, in no order
	session leaderSession
	under   []*replicaFetch // fetches, in the order they were sent

	woken    bool
	patience env.Mono // from then on nobody waits for who is writing
	rest     env.Mono // nothing is asked before
	next     timer    // to the next of these
}

// replicaFetch is a fetch that is under way.
type replicaFetch struct {
	of      *replicaFetcher
	request uint64 // its number in the session
}

func newReplicaFetcher(leader kafka.BrokerID) *replicaFetcher {
	f := &replicaFetcher{leader: leader, session: newLeaderSession()}
	f.owner = f
	return f
}

// address is where the leader is reached by brokers, as far as the image knows.
func (f *replicaFetcher) address(b *Broker) (string, bool) {
	addr, ok := b.interBrokerAddress(f.leader)
	f.addr = addr
	return addr, ok && !f.over
}

// interBrokerAddress is where brokers reach a broker.
func (b *Broker) interBrokerAddress(id kafka.BrokerID) (string, bool) {
	listener := b.config.InterBroker
	if listener == "" && len(b.config.Listeners) > 0 {
		listener = b.config.Listeners[0].Name
	}
	broker := b.image.Broker(id)
	if broker == nil {
		return "", false
	}
	e, ok := broker.Endpoint(listener)
	if !ok {
		return "", false
	}
	return kafka.JoinHostPort(e.Host, int32(e.Port)), true
}

func (f *replicaFetcher) linkOpened(b *Broker) { b.fetchers.wake(f) }

// linkEnded begins anew: the leader's session may be gone with it.
func (f *replicaFetcher) linkEnded(b *Broker) { f.restart(b) }

// restart puts everything again into a new session.
func (f *replicaFetcher) restart(b *Broker) {
	f.session.restart()
	for _, c := range f.all {
		f.look(b, c)
	}
	b.fetchers.wake(f)
}

// pump sends the next fetch if it is time for one.
func (f *replicaFetcher) pump(b *Broker) {
	if f.over || !f.up() || b.phase != phaseRunning || !b.register.caughtUp {
		return
	}
	f.examine()
	switch {
	case b.now.Mono < f.rest:
	case len(f.under) == 0:
		if f.allWritten(b.now.Mono) {
			f.fetch(b)
		}
	case len(f.under) < mostFetches && f.session.id != noSession && len(f.session.changed) > 0:
		invariant.Sometimes(true, invariant.MarkReplicaFetchInterrupted)
		f.fetch(b)
	}
	f.arm(b)
}

// examine brings the session up to date with those that may have moved.
func (f *replicaFetcher) examine() {
	for i, c := range f.queue {
		f.queue[i], c.queued = nil, false
		at, ok := c.replica.FetchPosition()
		if !ok || c.paused {
			f.session.drop(c.key())
			continue
		}
		f.written(c)
		f.session.put(c.key(), at)
	}
	f.queue = f.queue[:0]
}

// allWritten says whether nobody is to be waited for any more.
func (f *replicaFetcher) allWritten(now env.Mono) bool {
	if f.writing > 0 && now >= f.patience {
		for _, c := range f.all {
			f.written(c)
		}
	}
	return f.writing == 0
}

// written takes c from those whose records are being written.
func (f *replicaFetcher) written(c *copying) {
	if c.writing {
		c.writing = false
		f.writing--
	}
}

// fetch asks for what follows every position of the session.
func (f *replicaFetcher) fetch(b *Broker) {
	if len(f.session.members) == 0 {
		return
	}
	c := &b.config.Replica
	m := kmsg.NewPtrFetchRequest()
	m.Version = fetchVersion
	m.ReplicaState.ID, m.ReplicaState.Epoch = int32(b.config.NodeID), int64(b.register.epoch)
	m.MaxWaitMillis, m.MinBytes = int32(c.FetchWait/time.Millisecond), c.FetchMinBytes
	m.MaxBytes = c.FetchTotalBytes
	q := &replicaFetch{of: f, request: f.session.ask(m, c.FetchBytes)}
	f.under = append(f.under, q)
	b.Metrics.ReplicaFetches++
	f.sendVital(b, c.FetchWait+b.linkPatience(), m, q)
}

// answered takes what a fetch has brought.
func (q *replicaFetch) answered(b *Broker, res any, err env.Errno) {
	f := q.of
	f.under = slices.DeleteFunc(f.under, func(other *replicaFetch) bool { return other == q })
	m, ok := res.(*wire.ReplicaFetchResponse)
	if err != env.OK || !ok || f.over {
		return // with the link, which begins anew
	}
	b.fetchers.wake(f)
	if !f.session.answered(q.request, m.SessionID, m.Error) {
		if m.Error != kafka.None {
			invariant.Sometimes(true, invariant.MarkReplicaSessionLost)
			f.rest = b.now.Mono.Add(linkPause)
			f.restart(b)
		}
		return
	}
	f.worked()
	f.patience = b.now.Mono.Add(stragglerPause)
	for i := range m.Partitions {
		f.take(b, q, m, &m.Partitions[i])
	}
	if f.session.id == noSession {
		f.restart(b) // the leader has no room for a session
	}
}

// take passes on what the leader said of one partition.
func (f *replicaFetcher) take(b *Broker, q *replicaFetch, m *wire.ReplicaFetchResponse,
	p *wire.ReplicaFetched,
) {
	r := b.host.find(p.TopicID, p.Partition)
	if r == nil || r.copying == nil || r.copying.from != f {
		return
	}
	at, ok := f.session.at(r.copying.key(), q.request)
	if ok {
		r.copying.fetched(b, at, m, p)
	}
}

// look has the next fetch take a replica into account that may have moved.
func (f *replicaFetcher) look(b *Broker, c *copying) {
	if !c.queued {
		c.queued = true
		f.queue = append(f.queue, c)
	}
	b.fetchers.wake(f)
}

// arm sets the timer for what only time can bring.
func (f *replicaFetcher) arm(b *Broker) {
	b.timers.clear(&f.next)
	at := env.Never
	if b.now.Mono < f.rest {
		at = f.rest
	} else if f.writing > 0 && len(f.under) == 0 {
		at = f.patience
	}
	for _, c := range f.paused {
		at = min(at, c.until)
	}
	if at != env.Never {
		b.timers.set(&f.next, at, f)
	}
}

// due ends the pauses that are over.
func (f *replicaFetcher) due(b *Broker) {
	b.fetchers.wake(f)
	f.paused = slices.DeleteFunc(f.paused, func(c *copying) bool {
		over := c.until <= b.now.Mono
		if over {
			c.paused = false
			f.look(b, c)
		}
		return over
	})
}
