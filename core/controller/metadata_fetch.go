package controller

import (
	"slices"
	"time"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/core/wire"
)

// MetadataFetch (Stet's own key), version 0: the committed log from an index on. A request that
// asks for what does not exist yet is parked until it does or its time is up. What a snapshot has
// replaced is answered with the image as it is now; a broker that has nothing reads the log from its
// first entry as long as that is there, in pieces of the size that it asks for.

// maxFetchWait bounds how long a request is parked, whatever it says.
const maxFetchWait = time.Minute

// fetches holds the parked requests. Each broker has one at a time.
type fetches struct{ parked []parkedFetch }

type parkedFetch struct {
	origin
	from     uint64
	maxBytes int64
	until    env.Mono
}

func (c *Controller) metadataFetch(r *env.Request, m *wire.MetadataFetchRequest) {
	code := c.Authorize(r)
	ready := c.Ready()
	if invariant.CanaryPublishedByAnyone.On() {
		ready = c.life.quorum != nil
	}
	if code == kafka.None && !ready {
		c.Metrics.Refused++
		code = kafka.NotController
	}
	if code == kafka.None && m.ClusterID != "" && m.ClusterID != c.image.ClusterID() {
		code = kafka.InconsistentClusterID
	}
	if code != kafka.None {
		c.respond(originOf(r), c.fetchAnswer(code))
		return
	}
	wait := min(time.Duration(max(m.MaxWaitMs, 0))*time.Millisecond, maxFetchWait)
	f := parkedFetch{originOf(r), uint64(max(m.FromIndex, 1)), int64(m.MaxBytes), c.now.Mono.Add(wait)}
	if f.from > uint64(c.image.Index())+1 {
		// The broker knows more than was ever committed here: a directory was exchanged.
		c.respond(f.origin, c.fetchAnswer(kafka.OffsetOutOfRange))
		return
	}
	if !c.fetch.give(c, &f) {
		c.fetch.parked = append(c.fetch.parked, f)
	}
}

// give answers a request if there is something for it.
func (s *fetches) give(c *Controller, f *parkedFetch) bool {
	if f.from > uint64(c.image.Index()) {
		return false
	}
	answer := c.fetchAnswer(kafka.None)
	switch first := c.life.quorum.FirstIndex(); {
	case f.from >= first:
		addEntries(answer, c.life.quorum.Entries(f.from, f.maxBytes))
	case first == quorum.FirstEntry:
		addEntries(answer, c.life.quorum.Entries(first, f.maxBytes))
	default:
		c.addSnapshot(answer)
	}
	for i := range answer.Entries {
		c.Metrics.MetadataBytes += uint64(len(answer.Entries[i].Record))
	}
	c.respond(f.origin, answer)
	return true
}

func (c *Controller) fetchAnswer(code kafka.ErrorCode) *wire.MetadataFetchResponse {
	return &wire.MetadataFetchResponse{
		ErrorCode: int16(code), LeaderID: int32(c.leaderID()), LeaderAddress: c.leaderAddress(),
		CommittedIndex: int64(c.image.Index()), SnapshotIndex: -1,
	}
}

// addSnapshot answers with the image. It is made in the turn: a broker asks for it once, at its
// start.
func (c *Controller) addSnapshot(answer *wire.MetadataFetchResponse) {
	applied := c.life.quorum.Applied()
	invariant.Always(metadata.Index(applied.Index) == c.image.Index(), "the image lags behind the log")
	answer.Snapshot = c.image.AppendSnapshot(nil)
	answer.SnapshotIndex, answer.SnapshotEpoch = int64(applied.Index), int32(applied.Term)
	c.Metrics.MetadataBytes += uint64(len(answer.Snapshot))
}

// addEntries answers with entries. Those that raft made itself, or that change the quorum's
// membership, are empty for a broker.
func addEntries(answer *wire.MetadataFetchResponse, entries []quorum.Entry) {
	for _, e := range entries {
		record := e.Data
		if e.Kind != quorum.EntryNormal {
			record = nil
		}
		answer.Entries = append(answer.Entries, wire.MetadataEntry{
			Index: int64(e.Index), Epoch: int32(e.Term), Record: record,
		})
	}
}

// serve answers what can be answered now.
func (s *fetches) serve(c *Controller) {
	if !c.Ready() {
		return
	}
	s.parked = slices.DeleteFunc(s.parked, func(f parkedFetch) bool { return s.give(c, &f) })
}

// expire answers, with nothing, requests whose time is up.
func (s *fetches) expire(c *Controller) {
	s.parked = slices.DeleteFunc(s.parked, func(f parkedFetch) bool {
		due := c.now.Mono >= f.until
		if due {
			c.respond(f.origin, c.fetchAnswer(kafka.None))
		}
		return due
	})
}

// refuse answers all, when this node stops leading.
func (s *fetches) refuse(c *Controller) {
	for i := range s.parked {
		c.respond(s.parked[i].origin, c.fetchAnswer(kafka.NotController))
	}
	s.parked = nil
}

func (s *fetches) forget(conn env.ConnID) { s.parked = dropConn(s.parked, conn) }

// deadline is the earliest time that a request is parked until.
func (s *fetches) deadline() env.Mono {
	at := env.Never
	for i := range s.parked {
		at = min(at, s.parked[i].until)
	}
	return at
}
