package quorum

import (
	"errors"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"stet/core/env"
)

// Handle consumes the completion of an effect of this voter.
func (q *Quorum) Handle(ev *env.Event, out *env.Effects) {
	if q.failed != env.OK {
		if ev.Kind == env.EventJobDone && ev.Token == q.jobs.token {
			q.jobs.token = 0
		}
		return
	}
	switch ev.Kind {
	case env.EventFileDone:
		q.onFileDone(ev, out)
	case env.EventJobDone:
		q.onJobDone(ev, out)
	}
}

// onFileDone steps what waited for a sync. Any failure is the end: what the file holds is unknown,
// and a later sync that succeeds would prove nothing.
func (q *Quorum) onFileDone(ev *env.Event, out *env.Effects) {
	if ev.Err != env.OK && ev.FileOp != env.FileClose {
		q.failed, q.leading = ev.Err, false
		q.Close(out)
		return
	}
	if ev.Token == 0 || ev.Token != q.writer.token {
		return // of a file that is not in force any more
	}
	q.synced()
}

// synced goes on with what the sync that is under way covers.
func (q *Quorum) synced() {
	for _, w := range q.writer.onSynced() {
		for _, m := range w.responses {
			q.deliver(m)
		}
		if w.installed != nil {
			q.installed(w.installed, w.members)
		}
	}
}

// deliver passes on a message that waited for a sync. One to another voter is out of date if this one
// has moved on to another term meanwhile, or stands for election no more: its log may be another.
func (q *Quorum) deliver(m *pb.Message) {
	switch {
	case m.GetTo() == q.voter:
		q.step(m)
	case m.GetTerm() < q.Term():
	case m.GetType() == pb.MsgVote && q.Role() != Candidate:
	default:
		q.send(m)
	}
}

// step gives raft a message. The only one that it refuses is an answer by somebody who is no member
// any more, which may be this voter.
func (q *Quorum) step(m *pb.Message) {
	if err := q.node.Step(m); !errors.Is(err, raft.ErrStepPeerNotFound) {
		q.must(err)
	}
}
