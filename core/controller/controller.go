package controller

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
)

// Controller is the loop's state. One goroutine at a time may call it.
type Controller struct {
	config   *Config
	topicIDs *rand.Rand // topic ids and where replicas are placed
	identity *rand.Rand // ids of clusters and voters

	life  life
	image *metadata.Image // committed
	queue queue
	fetch fetches
	fatal error

	opened, stopped bool // see stop.go

	// Of the turn that runs.
	now env.Now
	out *env.Effects

	Metrics Metrics
}

// Metrics counts since the process started.
type Metrics struct {
	Requests      uint64 // decided
	Refused       uint64 // because this node did not lead, or stopped leading
	Entries       uint64 // committed
	Snapshots     uint64 // begun
	Restarts      uint64 // after a failed write of the log
	MetadataBytes uint64 // of entries and snapshots sent to brokers
}

// New makes a controller that has not started: the first turn emits the job that reads the raft
// directory. The config belongs to the controller from now on and is not written by it. streams is
// called once for each use, from New.
func New(config *Config, _ env.Identity, streams func(env.Use) *rand.Rand) *Controller {
	return &Controller{
		config: config, topicIDs: streams(env.UseTopicID), identity: streams(env.UseIdentity),
		image: metadata.Empty(), queue: newQueue(),
	}
}

// Turn consumes events in order and appends what they cause to out, which the caller has Reset.
// It sets out.Wake to the next deadline.
func (c *Controller) Turn(now env.Now, in []env.Event, out *env.Effects) {
	c.now, c.out = now, out
	if c.life.owner == 0 {
		c.recover()
	}
	for i := range in {
		c.event(&in[i])
	}
	c.restart()
	c.advance()
	c.fetch.expire(c)
	c.wake()
	c.out = nil
}

func (c *Controller) event(ev *env.Event) {
	switch ev.Kind {
	case env.EventRequest:
		c.request(ev.Req)
	case env.EventConnOpened:
		// Requests say what there is to know.
	case env.EventConnClosed:
		c.closed(ev.Conn)
	case env.EventJobDone:
		if ev.Token == c.life.recovery {
			c.recovered(ev.Res.(*quorum.Recovered))
		} else if ev.Token == c.life.lingering {
			c.life.lingering = 0
		} else if ev.Token.Owner() == c.life.owner && c.life.quorum != nil {
			c.life.quorum.Handle(ev, c.out)
		}
	case env.EventConfig:
		c.configure(ev.Res)
	case env.EventFileDone:
		if ev.File.Owner() == c.life.owner && c.life.quorum != nil {
			c.life.quorum.Handle(ev, c.out)
		}
	}
}

// advance lets the quorum run, applies what is committed, and answers what waited for it.
func (c *Controller) advance() {
	q := c.life.quorum
	if q == nil {
		return
	}
	led := q.Leading()
	for _, e := range q.Advance(c.out).Committed {
		if c.apply(&e); c.fatal != nil {
			return
		}
	}
	if err := q.Failed(); err != env.OK {
		c.restartLater(err)
		return
	}
	if !led && q.Leading() {
		c.life.failures = 0
		if c.elected(); c.fatal != nil {
			return
		}
		q.Advance(c.out) // nothing commits here; it writes what elected has proposed
	}
	c.queue.answer(c)
	c.fetch.serve(c)
	if q.SnapshotDue() {
		c.Metrics.Snapshots++
		q.Snapshot(c.image, c.out)
	}
}

// apply takes one committed entry.
func (c *Controller) apply(e *quorum.Entry) {
	c.Metrics.Entries++
	data := e.Data
	if e.Kind != quorum.EntryNormal {
		data = nil // membership is the quorum's
	}
	if image := c.queue.committed(e.Index, e.Term); image != nil {
		c.image = image
		return
	}
	image, err := c.image.ApplyEntry(metadata.Index(e.Index), data)
	if err != nil {
		// Nobody may act on a log that does not make sense.
		c.fail(err)
		return
	}
	c.image = image
}

// elected begins to lead: the image is complete, and proposals go on top of it.
func (c *Controller) elected() {
	c.queue.restart(c.image)
	c.trace(TraceElected, int64(c.life.quorum.Term()), int64(c.image.Index()), 0,
		"leads the metadata quorum")
	id, want := c.image.ClusterID(), c.config.ClusterID
	switch {
	case id == "":
		if want == "" {
			want = c.newClusterID()
		}
		features := metadata.Features{Level: metadata.CurrentLevel}
		c.propose([]metadata.Record{&metadata.ClusterRecord{ID: want, Features: features}})
	case want != "" && want != id:
		c.fail(fmt.Errorf("the raft directory is of cluster %s, want %s", id, want))
	}
}

// newClusterID draws 16 bytes in the form that Kafka prints: 22 characters, not beginning with '-'.
func (c *Controller) newClusterID() string {
	for {
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:], c.identity.Uint64())
		binary.LittleEndian.PutUint64(b[8:], c.identity.Uint64())
		if id := base64.RawURLEncoding.EncodeToString(b[:]); id[0] != '-' {
			return id
		}
	}
}

// closed forgets a connection.
func (c *Controller) closed(conn env.ConnID) {
	c.queue.forget(conn)
	c.fetch.forget(conn)
}

func (c *Controller) wake() {
	if c.life.restartAt != 0 && c.life.lingering == 0 {
		c.out.WakeBy(c.life.restartAt)
	}
	c.out.WakeBy(c.fetch.deadline())
}

// Ready says whether the controller leads and answers requests.
func (c *Controller) Ready() bool {
	return c.life.quorum != nil && c.life.quorum.Leading() && c.image.ClusterID() != ""
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
)

func (c *Controller) trace(id env.TraceID, a, b, n int64, text string) {
	c.out.Trace = append(c.out.Trace, env.TraceRec{ID: id, A: a, B: b, C: n, S: text})
}

// leaderID is what a broker is told of who leads.
func (c *Controller) leaderID() kafka.BrokerID {
	if c.Ready() {
		return c.config.NodeID
	}
	return kafka.NoBroker
}

// dropConn removes what belongs to a connection.
func dropConn[T interface{ connection() env.ConnID }](all []T, conn env.ConnID) []T {
	return slices.DeleteFunc(all, func(v T) bool { return v.connection() == conn })
}
