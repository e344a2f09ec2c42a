package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/quorum"
	"stet/core/wire"
)

// QuorumSnapshot (Stet's own key), version 0: a piece of a snapshot, for a voter that needs what the
// log does not hold any more. A job reads it.

// maxPieceBytes bounds a piece of a snapshot.
const maxPieceBytes = 1 << 20

// snapshots moves the bodies of snapshots between controllers.
type snapshots struct{ reading []pieceRead }

// pieceRead is an answer that waits for its job.
type pieceRead struct {
	origin
	token env.Token
}

func (c *Controller) quorumSnapshot(r *env.Request, m *wire.QuorumSnapshotRequest) {
	code := c.Authorize(r)
	if q := c.life.quorum; code == kafka.None {
		at := quorum.Position{Index: uint64(m.Index), Term: uint64(m.Term)}
		size := min(int(m.MaxBytes), maxPieceBytes)
		switch {
		case q == nil || uint64(m.VoterID) != c.voter:
			code = kafka.InconsistentVoterSet
		case m.Offset < 0 || size <= 0:
			code = kafka.PositionOutOfRange
		default:
			token, ok := q.ReadSnapshot(at, m.Offset, size, c.out)
			if ok {
				c.snapshots.reading = append(c.snapshots.reading, pieceRead{originOf(r), token})
				return
			}
			code = kafka.SnapshotNotFound
		}
	}
	c.respond(originOf(r), &wire.QuorumSnapshotResponse{ErrorCode: int16(code)})
}

// done answers with what a job has read, and says whether it was one of these jobs.
func (s *snapshots) done(c *Controller, ev *env.Event) bool {
	part, ok := ev.Res.(quorum.SnapshotPart)
	if !ok {
		return false
	}
	for i := range s.reading {
		p := s.reading[i]
		if p.token != ev.Token {
			continue
		}
		s.reading = append(s.reading[:i], s.reading[i+1:]...)
		answer := &wire.QuorumSnapshotResponse{Size: part.Size, Offset: part.Offset, Bytes: part.Data}
		if part.Gone {
			answer = &wire.QuorumSnapshotResponse{ErrorCode: int16(kafka.SnapshotNotFound)}
		}
		c.respond(p.origin, answer)
		break
	}
	return true
}

// refuse ends a life: its jobs are not heard of again.
func (s *snapshots) refuse(c *Controller) {
	for i := range s.reading {
		c.respond(s.reading[i].origin,
			&wire.QuorumSnapshotResponse{ErrorCode: int16(kafka.SnapshotNotFound)})
	}
	s.reading = nil
}

func (s *snapshots) forget(conn env.ConnID) { s.reading = dropConn(s.reading, conn) }

// fetch asks for a piece. The quorum asks again if nothing comes.
func (s *snapshots) fetch(c *Controller, want *quorum.SnapshotFetch) {
	p := c.peers.ofVoter(want.From)
	if p == nil || p.link.asking(wire.KeyQuorumSnapshot) {
		return
	}
	p.link.send(c, &wire.QuorumSnapshotRequest{
		VoterID: int64(want.From), Index: int64(want.At.Index), Term: int64(want.At.Term),
		Offset: want.Offset, MaxBytes: maxPieceBytes,
	}, asked{at: want.At})
}

// received passes a piece on.
func (s *snapshots) received(c *Controller, a *asked, m *wire.QuorumSnapshotResponse) {
	if c.life.quorum == nil {
		return
	}
	c.life.quorum.SnapshotChunk(quorum.SnapshotChunk{
		At: a.at, Offset: m.Offset, Data: m.Bytes, Size: m.Size, Gone: m.ErrorCode != 0,
	}, c.out)
}
