package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/metadata"
	"stet/core/quorum"
)

// Controller is the loop's state. One goroutine at a time may call it.
type Controller struct {
	config   *Config
	topicIDs *rand.Rand // topic ids and where replicas are placed
	identity *rand.Rand // ids of clusters and voters

	life      life
	directory [16]byte // id of the data directory; zero before it was opened
	voter     uint64   // of the directory

	bootstrap bootstrap
	joining   joining
	announces announcing
	peers     peers
	snapshots snapshots
	ticker    ticker
	members   members
	balance   balance

	succession succession

	image    *metadata.Image // committed
	term     uint64          // that this controller leads; 0: none
	queue    queue
	reads    reads
	sessions sessions
	fetch    fetches
	fatal    error

	opened bool
	stop   stop

	// Of the turn that runs.
	now env.Now
	out *env.Effects

	Metrics Metrics
}

// Metrics counts since the process started.
type Metrics struct {
	Requests         uint64 // decided
	Refused          uint64 // because this node did not lead, or stopped leading
	Entries          uint64 // committed
	Snapshots        uint64 // begun
	Installed        uint64 // snapshots of other controllers
	Fenced           uint64 // brokers whose sessions ended
	UncleanElections uint64
	Restarts         uint64 // after a failed write of the log
	MetadataBytes    uint64 // of entries and snapshots sent to brokers
}

// New makes a controller that has not started: the first turn emits the job that reads the raft
// directory. The config belongs to the controller from now on and is not written by it. streams is
// called once for each use, from New.
func New(config *Config, _ env.Identity, streams func(env.Use) *rand.Rand) *Controller {
	c := &Controller{
		config: config, topicIDs: streams(env.UseTopicID), identity: streams(env.UseIdentity),
		image: metadata.Empty(), queue: newQueue(),
		bootstrap: newBootstrap(config), ticker: ticker{env.Never}, balance: balance{at: env.Never},
	}
	return c
}

// Turn consumes events in order and appends what they cause to out, which the caller has Reset.
// It sets out.Wake to the next deadline.
func (c *Controller) Turn(now env.Now, in []env.Event, out *env.Effects) {
	c.now, c.out = now, out
	c.reads.asked = false
	if c.life.owner == 0 {
		c.recover()
	}
	c.peers.list(c)
	for i := range in {
		c.event(&in[i])
	}
	c.restart()
	c.advance()
	c.peers.run(c)
	c.fetch.expire(c)
	c.wake()
	c.out = nil
}

func (c *Controller) event(ev *env.Event) {
	switch ev.Kind {
	case env.EventRequest:
		c.request(ev.Req)
	case env.EventConnOpened, env.EventResponse:
		if ev.Conn.Link() {
			c.peers.event(c, ev)
		}
	case env.EventConnClosed:
		c.closed(ev)
	case env.EventJobDone:
		c.jobDone(ev)
	case env.EventConfig:
		c.configure(ev.Res)
	case env.EventFileDone:
		if ev.File.Owner() == c.life.owner && c.life.quorum != nil {
			c.life.quorum.Handle(ev, c.out)
		}
	}
}

func (c *Controller) jobDone(ev *env.Event) {
	switch {
	case ev.Token == c.life.recovery:
		c.recovered(ev.Res.(*quorum.Recovered))
	case ev.Token == c.life.lingering:
		c.life.lingering = 0
	case ev.Token.Owner() != c.life.owner || c.life.quorum == nil:
		// Of a former life.
	case !c.snapshots.done(c, ev):
		c.life.quorum.Handle(ev, c.out)
	}
}

// advance lets the quorum run, applies what is committed, and answers what waited for it.
func (c *Controller) advance() {
	c.bootstrap.step(c)
	c.joining.step(c)
	c.announces.step(c)
	c.stop.step(c)
	if c.ticker.step(c) {
		c.members.observe(c)
	}
	c.succession.step(c)
	c.sessions.expire(c)
	q := c.life.quorum
	if q == nil {
		return
	}
	for again := true; again; {
		p := q.Advance(c.out)
		c.take(&p)
		c.checkCluster()
		if c.fatal != nil {
			return
		}
		if err := q.Failed(); err != env.OK {
			c.restartLater(err)
			return
		}
		// What these propose is written by another round.
		again = c.lead()
		if c.fatal != nil {
			return
		}
		again = c.members.step(c) || again
		again = c.balance.step(c) || again
	}
	c.queue.answer(c)
	c.fetch.serve(c)
	if q.SnapshotDue() {
		c.Metrics.Snapshots++
		q.Snapshot(c.image, c.out)
	}
}

// take carries out what the quorum has come to.
func (c *Controller) take(p *quorum.Progress) {
	if s := p.Installed; s != nil {
		c.Metrics.Installed++
		if c.load(s.At, s.Body); c.fatal != nil {
			return
		}
	}
	for i := range p.Committed {
		if c.apply(&p.Committed[i]); c.fatal != nil {
			return
		}
	}
	c.reads.confirm(p.Reads)
	c.peers.deliver(c, p.Messages)
	if p.Fetch != nil {
		c.snapshots.fetch(c, p.Fetch)
	}
}

// checkCluster compares the cluster that the directory is of with the one that is expected.
func (c *Controller) checkCluster() {
	id, want := c.image.ClusterID(), c.config.ClusterID
	if id != "" && want != "" && id != want && c.fatal == nil {
		c.fail(fmt.Errorf("the raft directory is of cluster %s, want %s", id, want))
	}
}

// apply takes one committed entry.
func (c *Controller) apply(e *quorum.Entry) {
	c.Metrics.Entries++
	data := e.Data
	if e.Kind != quorum.EntryNormal {
		data = nil // membership is the quorum's
	}
	if c.term == 0 && e.Index%16 == 0 && invariant.CanaryStandbySkipsRecord.On() {
		data = nil
	}
	if image := c.queue.committed(e.Index, e.Term); image != nil {
		delta := metadata.Diff(c.image, image)
		c.reportUnclean(&delta, image.Index())
		c.balance.notice(c, &delta)
		c.image = image
		return
	}
	image, err := c.config.Levels.ApplyEntry(c.image, metadata.Index(e.Index), data)
	if err != nil {
		// Nobody may act on a log that does not make sense.
		c.fail(err)
		return
	}
	c.image = image
}

// closed forgets a connection.
func (c *Controller) closed(ev *env.Event) {
	if ev.Conn.Link() {
		c.peers.event(c, ev)
		return
	}
	c.sessions.hungUp(c, ev.Conn)
	c.queue.forget(ev.Conn)
	c.fetch.forget(ev.Conn)
	c.members.forget(ev.Conn)
	c.snapshots.forget(ev.Conn)
}

func (c *Controller) wake() {
	if c.life.restartAt != 0 && c.life.lingering == 0 {
		c.out.WakeBy(c.life.restartAt)
	}
	if c.fatal == nil {
		c.out.WakeBy(min(
			c.ticker.at, c.fetch.deadline(), c.sessions.deadline(), c.members.deadline(),
			c.peers.deadline(), c.balance.deadline(c), c.joining.deadline(c), c.announces.deadline(c), c.stop.deadline(),
			c.succession.deadline(),
			c.bootstrap.reason.deadline(c),
		))
	}
}

// Image returns the committed metadata, for inspection between turns.
func (c *Controller) Image() *metadata.Image { return c.image }

// Quorum returns the state of the quorum, for inspection between turns; ok is false while there is
// none.
func (c *Controller) Quorum() (status quorum.Status, ok bool) {
	if c.life.quorum == nil {
		return status, false
	}
	return c.life.quorum.Status(), true
}

// Fatal returns why the controller can not go on (a corrupt raft log, a directory of another
// cluster), or nil. The node stops the process with it.
func (c *Controller) Fatal() error { return c.fatal }

// ResultTypes has a value of each type, errors aside, that a job of this loop returns: what a
// recording needs to read them back.
func ResultTypes() []any {
	return quorum.ResultTypes()
}

// The trace records of this loop.
const (
	TraceElected env.TraceID = 200 + iota
	TraceLogFailed
	TraceFatal
	TraceResigned
	TraceFenced
	TraceFormed
	TracePeer
	TraceIgnored
	TraceUnclean
)

func (c *Controller) trace(id env.TraceID, a, b, n int64, text string) {
	c.out.Trace = append(c.out.Trace, env.TraceRec{ID: id, A: a, B: b, C: n, S: text})
}

// dropConn removes what belongs to a connection.
func dropConn[T interface{ connection() env.ConnID }](all []T, conn env.ConnID) []T {
	return slices.DeleteFunc(all, func(v T) bool { return v.connection() == conn })
}
