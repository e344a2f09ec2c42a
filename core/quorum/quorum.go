package quorum

import (
	"math"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"stet/core/env"
	"stet/core/invariant"
)

// Quorum is one voter of the metadata quorum, from a recovery to the first failed write of its log
// or the end of the process. After a failure it says nothing more; the owner drops it and recovers.
//
// In a turn: Handle every event that carries the owner's id, Propose, then Advance once.
type Quorum struct {
	config  *Config
	owner   env.Owner
	voter   uint64
	node    *raft.RawNode
	storage *storage
	writer  writer

	tokens uint64 // given so far
	job    job

	// Invariant: proposed >= the log's last index; they differ by what was proposed in this turn.
	proposed  uint64
	applied   Position
	leading   bool // leads and has committed an entry of its term
	committed []Entry
	failed    env.Errno
}

// job is the job that is under way: at most one, so that a sweep never meets a file being written.
type job struct {
	token    env.Token // zero for none
	obsolete []string  // files to remove when the file in force is durable
	retryAt  uint64    // no snapshot before this index, after one failed
}

// New starts a voter from what RecoverJob found: it begins a new log file and, being the only
// voter, campaigns. owner is new for each life, so that events of a former one are told apart.
func New(config *Config, owner env.Owner, r *Recovered, out *env.Effects) *Quorum {
	invariant.Always(r.Failure() == nil, "a quorum starts from a failed recovery")
	invariant.Always(len(r.Members.Voters) == 1 && r.Members.Voters[0] == r.Voter,
		"a quorum of more than one voter is not built yet")
	q := &Quorum{
		config: config, owner: owner, voter: r.Voter, storage: newStorage(r),
		writer:   writer{dir: config.Dir, owner: owner, generation: r.LastGeneration},
		job:      job{obsolete: r.Obsolete},
		proposed: r.Last().Index, applied: r.Start,
	}
	// What was committed was durable in the file that recovery has read, which stays until the new
	// one is durable.
	term, _ := q.storage.Term(r.Hard.Commit)
	q.writer.durable = Position{r.Hard.Commit, term}
	q.writer.begin(q.voter, q.storage, out)
	node, err := raft.NewRawNode(q.raftConfig())
	invariant.Always(err == nil, "raft refuses its configuration")
	q.node = node
	q.must(q.node.Campaign())
	return q
}

// raftConfig holds what raft needs. With one voter there are no ticks: nothing can time out.
func (q *Quorum) raftConfig() *raft.Config {
	return &raft.Config{
		ID: q.voter, Storage: q.storage, Applied: q.storage.start.Index, AsyncStorageWrites: true,
		ElectionTick: 10, HeartbeatTick: 1, CheckQuorum: true, PreVote: true,
		MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 256, MaxCommittedSizePerReady: math.MaxUint64,
		MaxUncommittedEntriesSize: q.config.MaxUncommittedBytes,
		DisableProposalForwarding: true, Logger: logger{},
	}
}

func (q *Quorum) must(err error) {
	if err != nil {
		invariant.Unreachable("raft: " + err.Error())
	}
}

func (q *Quorum) token() env.Token {
	q.tokens++
	return env.MakeToken(q.owner, q.tokens)
}

// Close gives the file up. Nothing may be called afterwards, unless the quorum has failed.
func (q *Quorum) Close(out *env.Effects) { q.writer.abandon(out) }

// UnderWay returns the token of the job that is under way, or zero. After a failure the owner waits
// for its event before it recovers: the job may rename or remove files.
func (q *Quorum) UnderWay() env.Token { return q.job.token }

// Failed returns why the log can not be written any more, or OK.
func (q *Quorum) Failed() env.Errno { return q.failed }

// Leading says whether proposals are accepted, and whether what is committed is all that ever was.
func (q *Quorum) Leading() bool { return q.leading && q.failed == env.OK }

// Propose appends data, which belongs to the quorum from now on, to the log, and returns the index
// at which it will be committed if this voter goes on leading. ok is false if it does not lead or
// too much is under way.
func (q *Quorum) Propose(data []byte) (index uint64, ok bool) {
	invariant.Always(len(data) > 0, "an empty entry is proposed")
	if !q.Leading() || q.node.Propose(data) != nil {
		return 0, false
	}
	q.proposed++
	return q.proposed, true
}

// Proposed returns the index of the last entry that was proposed or is in the log.
func (q *Quorum) Proposed() uint64 { return q.proposed }

// Handle consumes the completion of an effect of this voter.
func (q *Quorum) Handle(ev *env.Event, out *env.Effects) {
	if q.failed != env.OK {
		if ev.Kind == env.EventJobDone {
			q.job.token = 0
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
	for _, w := range q.writer.onSynced() {
		for _, m := range w.responses {
			q.must(q.node.Step(m))
		}
		if w.begun {
			q.sweep(out)
		}
	}
}

// sweep removes what the file in force has made superfluous.
func (q *Quorum) sweep(out *env.Effects) {
	if len(q.job.obsolete) == 0 {
		return
	}
	q.startJob(&sweepJob{q.config.Dir, q.job.obsolete}, out)
	q.job.obsolete = nil
}

func (q *Quorum) startJob(j env.Job, out *env.Effects) {
	invariant.Always(q.job.token == 0, "two jobs of a quorum at once")
	q.job.token = q.token()
	out.Jobs = append(out.Jobs, env.JobStart{Token: q.job.token, Job: j})
}

func (q *Quorum) onJobDone(ev *env.Event, out *env.Effects) {
	invariant.Always(ev.Token == q.job.token, "a job of a quorum is done that was not under way")
	q.job.token = 0
	if done, ok := ev.Res.(SnapshotDone); ok {
		q.onSnapshot(&done, out)
	}
}

// SnapshotDue says whether the log has grown enough since the last snapshot for a new one.
func (q *Quorum) SnapshotDue() bool {
	s := q.storage
	grown := len(s.entries) >= q.config.SnapshotEntries || s.bytes >= q.config.SnapshotBytes
	return grown && q.failed == env.OK && q.job.token == 0 && len(q.job.obsolete) == 0 &&
		q.applied.Index > s.start.Index && q.applied.Index >= q.job.retryAt
}

// Snapshot starts the job that saves body, the state as of the last entry that Advance returned.
// Call it only if SnapshotDue.
func (q *Quorum) Snapshot(body Body, out *env.Effects) {
	q.startJob(&snapshotJob{q.config.Dir, q.applied, q.storage.members, body}, out)
}

// onSnapshot moves the log, without what the snapshot covers, to a new file.
func (q *Quorum) onSnapshot(done *SnapshotDone, out *env.Effects) {
	if done.Err != env.OK {
		// Not fatal: the log still has everything. Try again when it has grown once more.
		q.job.retryAt = q.applied.Index + uint64(q.config.SnapshotEntries)
		return
	}
	invariant.Sometimes(true, invariant.MarkRaftSnapshot)
	old := []string{logName(q.writer.generation)}
	if q.storage.start.Index > 1 {
		old = append(old, snapshotName(q.storage.start.Index))
	}
	q.storage.compact(done.At, done.Members)
	q.writer.begin(q.voter, q.storage, out)
	q.job.obsolete = old
}

// Advance lets raft run until it has nothing to do, and returns the entries that are now committed,
// in order, each once. They are durable. The slice is valid until the next call.
func (q *Quorum) Advance(out *env.Effects) []Entry {
	q.committed = q.committed[:0]
	if q.failed != env.OK {
		return nil
	}
	for q.node.HasReady() {
		ready := q.node.Ready()
		for _, m := range ready.Messages {
			q.message(m, out)
		}
	}
	q.writer.sync(q.token, out)
	q.noteLeading()
	return q.committed
}

func (q *Quorum) message(m *pb.Message, out *env.Effects) {
	switch m.GetTo() {
	case raft.LocalAppendThread:
		q.store(m, out)
	case raft.LocalApplyThread:
		q.apply(m)
	default:
		invariant.Unreachable("a message to another voter in a quorum of one")
	}
}

// store writes what raft wants stored. Its responses wait for a sync; without responses nothing
// depends on the write, and the next sync will cover it.
func (q *Quorum) store(m *pb.Message, out *env.Effects) {
	invariant.Always(m.Snapshot == nil, "a snapshot arrives in a quorum of one")
	hard := &HardState{m.GetTerm(), m.GetVote(), m.GetCommit()}
	if *hard == (HardState{}) {
		hard = nil
	} else {
		old := &q.storage.hard
		invariant.Always(hard.Term >= old.Term && hard.Commit >= old.Commit, "a hard state goes back")
		invariant.Always(hard.Term > old.Term || old.Vote == 0 || hard.Vote == old.Vote,
			"a second vote in one term")
		q.storage.hard = *hard
	}
	if len(m.Entries) > 0 {
		q.storage.append(m.Entries)
		q.proposed = q.storage.last().Index
	}
	q.writer.append(m.Entries, hard, out)
	if len(m.Responses) > 0 {
		q.writer.await(m.Responses, q.storage.last())
	}
}

// apply passes committed entries on and tells raft at once.
func (q *Quorum) apply(m *pb.Message) {
	for _, p := range m.Entries {
		e := entryOf(p)
		invariant.Always(e.Index == q.applied.Index+1, "entries are applied out of order")
		invariant.Always(e.Index <= q.writer.durable.Index, "an entry is applied before it is durable")
		q.applied = Position{e.Index, e.Term}
		q.applyMembers(p)
		q.committed = append(q.committed, e)
	}
	for _, r := range m.Responses {
		q.must(q.node.Step(r))
	}
}

// applyMembers changes the membership if that is what the entry says.
func (q *Quorum) applyMembers(p *pb.Entry) {
	switch EntryKind(p.GetType()) {
	case EntryConfChange:
		var c pb.ConfChange
		q.must(proto.Unmarshal(p.GetData(), &c))
		q.storage.members = confStateOf(q.node.ApplyConfChange(&c))
	case EntryConfChangeV2:
		var c pb.ConfChangeV2
		q.must(proto.Unmarshal(p.GetData(), &c))
		q.storage.members = confStateOf(q.node.ApplyConfChange(&c))
	}
}

// noteLeading: a leader knows all that was ever committed once it has committed an entry of its own
// term, the empty one that raft appends at an election.
func (q *Quorum) noteLeading() {
	s := q.node.BasicStatus()
	q.leading = s.RaftState == raft.StateLeader && q.applied.Term == s.HardState.GetTerm()
}
