package quorum

import (
	"math"

	"go.etcd.io/raft/v3"

	"stet/core/env"
	"stet/core/invariant"
)

// Quorum is one voter of the metadata quorum, from a recovery to the first failed write of its log
// or the end of the process. After a failure it says nothing more; the owner drops it and recovers.
//
// In a turn: Handle every event that carries the owner's id, Receive and Tick, then Propose, then
// Advance once.
type Quorum struct {
	config  *Config
	owner   env.Owner
	voter   uint64
	node    *raft.RawNode
	storage *storage
	writer  writer

	tokens  uint64 // given so far
	jobs    jobs
	fetch   fetch
	serving serving
	ticks   int // since snapshots were offered again
	silence int // ticks since a leader was heard

	// Invariant: proposed >= the log's last index; they differ by what was proposed in this turn.
	proposed uint64
	reach    uint64 // the log ends here or before, with what was received in this turn
	applied  Position
	members  ConfState // as of applied
	changing uint64    // index of the last change of the membership in the log, or proposed; 0 for none
	applying applying
	leading  bool     // leads and has committed an entry of its term
	progress Progress // since the last Advance
	failed   env.Errno
}

// New starts a voter from what RecoverJob found: it begins a new log file. The only voter of a
// quorum leads without being asked; others wait for a leader or for their time to campaign. owner
// is new for each life, so that events of a former one are told apart.
func New(config *Config, owner env.Owner, r *Recovered, out *env.Effects) *Quorum {
	invariant.Always(r.Failure() == nil, "a quorum starts from a failed recovery")
	storage := newStorage(r)
	q := &Quorum{
		config: config, owner: owner, voter: r.Voter, storage: storage,
		writer:   writer{dir: config.Dir, owner: owner, generation: r.LastGeneration},
		jobs:     jobs{obsolete: r.Obsolete},
		proposed: r.Last().Index, reach: r.Last().Index, applied: r.Start,
		members: r.Members, changing: lastChange(storage.entries),
	}
	// What is applied is what the snapshot holds, whose index is in the same file. The hard state knows
	// more, and is written apart.
	if n := r.Hard.Commit - r.Start.Index; n > 0 && invariant.CanaryAppliedApart.On() {
		q.applied = Position{r.Hard.Commit, r.Entries[n-1].Term}
	}
	q.serving.idle = q.keepTicks()
	q.writer.begin(q.voter, q.storage, out)
	node, err := raft.NewRawNode(q.raftConfig())
	invariant.Always(err == nil, "raft refuses its configuration")
	q.node = node
	return q
}

// raftConfig holds what raft needs.
func (q *Quorum) raftConfig() *raft.Config {
	c := &raft.Config{
		ID: q.voter, Storage: q.storage, Applied: q.applied.Index, AsyncStorageWrites: true,
		ElectionTick: q.config.ElectionTicks, HeartbeatTick: q.config.HeartbeatTicks,
		CheckQuorum: true, PreVote: true,
		MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 256, MaxCommittedSizePerReady: math.MaxUint64,
		MaxUncommittedEntriesSize: q.config.MaxUncommittedBytes,
		DisableProposalForwarding: true, Logger: logger{},
	}
	if invariant.CanaryNoCheckQuorum.On() {
		c.CheckQuorum = false
	}
	return c
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
