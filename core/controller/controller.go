package controller

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
)

// Controller is the loop's state. One goroutine at a time may call it.
type Controller struct {
	config   *Config
	topicIDs *rand.Rand // topic ids and where replicas are placed
	identity *rand.Rand // ids of clusters and voters

	life   life
	image  *metadata.Image // committed
	queue  queue
	fetch  fetches
	expect sessions
	fatal  error

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

// life is one run of the quorum, from recovery to its failure.
type life struct {
	owner     env.Owner      // new for each life, so that late events of another are told apart
	recovery  env.Token      // of the job that reads the raft directory; zero when it is done
	quorum    *quorum.Quorum // nil while there is none
	restartAt env.Mono       // when to recover again; zero: not waiting
	failures  int            // in a row
}

// New makes a controller that has not started: the first turn emits the job that reads the raft
// directory. The config belongs to the controller from now on and is not written by it. streams is
// called once for each use, from New.
func New(config *Config, _ env.Identity, streams func(env.Use) *rand.Rand) *Controller {
	return &Controller{
		config: config, topicIDs: streams(env.UseTopicID), identity: streams(env.UseIdentity),
		image: metadata.Empty(), queue: newQueue(), expect: newSessions(),
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
		} else if ev.Token.Owner() == c.life.owner && c.life.quorum != nil {
			c.life.quorum.Handle(ev, c.out)
		}
	case env.EventFileDone:
		if ev.File.Owner() == c.life.owner && c.life.quorum != nil {
			c.life.quorum.Handle(ev, c.out)
		}
	case env.EventTick:
		if c.life.restartAt != 0 && c.now.Mono >= c.life.restartAt {
			c.recover()
		}
	}
}

// recover starts a new life with the job that reads the raft directory.
func (c *Controller) recover() {
	if c.fatal != nil {
		return
	}
	c.life = life{owner: c.life.owner + 1, failures: c.life.failures}
	// The quorum counts its tokens from 1; the largest is this one's.
	c.life.recovery = env.MakeToken(c.life.owner, 1<<40-1)
	job := &quorum.RecoverJob{Config: &c.config.Quorum, Voter: c.newVoter()}
	c.out.Jobs = append(c.out.Jobs, env.JobStart{Token: c.life.recovery, Job: job})
}

// newVoter draws the raft id that this directory gets if it has none. Ids belong to directories,
// not to nodes, so that a node which lost its directory comes back as somebody else.
func (c *Controller) newVoter() uint64 {
	for {
		// The top bit is raft's: it marks messages to a node's own threads.
		if id := c.identity.Uint64() >> 1; id != 0 {
			return id
		}
	}
}

// recovered loads the state that the job has found, and starts the quorum.
func (c *Controller) recovered(r *quorum.Recovered) {
	c.life.recovery = 0
	if err := r.Failure(); err != nil {
		if r.Corrupt {
			c.fail(err)
		} else {
			c.restartLater(err)
		}
		return
	}
	image := metadata.Empty()
	if r.Snapshot != nil {
		var err error
		if image, err = metadata.DecodeSnapshot(r.Snapshot); err != nil {
			c.fail(err)
			return
		}
	}
	invariant.Always(r.Snapshot == nil || uint64(image.Index()) == r.Start.Index,
		"a snapshot is of another index than its file")
	c.image = image
	c.life.quorum = quorum.New(&c.config.Quorum, c.life.owner, r, c.out)
}

// advance lets the quorum run, applies what is committed, and answers what waited for it.
func (c *Controller) advance() {
	q := c.life.quorum
	if q == nil {
		return
	}
	led := q.Leading()
	for _, e := range q.Advance(c.out) {
		if c.apply(&e); c.fatal != nil {
			return
		}
	}
	if err := q.Failed(); err != env.OK {
		c.life.quorum = nil
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
	c.trace(TraceElected, int64(c.life.quorum.Term()), int64(c.image.Index()), 0, "leads the metadata quorum")
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

// restartLater ends a life: nothing more is answered from its log. Whether what was proposed
// survives is not known, so whoever waits is told to find a controller and ask again.
func (c *Controller) restartLater(err error) {
	invariant.Sometimes(true, invariant.MarkRaftRestarted)
	c.Metrics.Restarts++
	c.life.failures++
	c.resign()
	pause := c.config.RestartPause << min(c.life.failures-1, 5)
	c.life.restartAt = c.now.Mono.Add(pause)
	c.trace(TraceLogFailed, int64(c.life.failures), int64(pause), 0,
		"the raft log can not be used: "+err.Error())
}

// fail stops the controller for good.
func (c *Controller) fail(err error) {
	if c.fatal != nil {
		return
	}
	c.fatal = err
	c.life.quorum, c.life.recovery, c.life.restartAt = nil, 0, 0
	c.resign()
	c.trace(TraceFatal, 0, 0, 0, err.Error())
}

// resign refuses everything that waits.
func (c *Controller) resign() {
	c.queue.refuse(c)
	c.fetch.refuse(c)
	c.expect = newSessions()
}

// closed forgets a connection.
func (c *Controller) closed(conn env.ConnID) {
	c.queue.forget(conn)
	c.fetch.forget(conn)
	c.expect.closed(conn)
}

func (c *Controller) wake() {
	if c.life.restartAt != 0 {
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

// sameConn selects what belongs to a connection.
func sameConn[T interface{ connection() env.ConnID }](conn env.ConnID) func(T) bool {
	return func(v T) bool { return v.connection() == conn }
}

func dropConn[T interface{ connection() env.ConnID }](all []T, conn env.ConnID) []T {
	return slices.DeleteFunc(all, sameConn[T](conn))
}
