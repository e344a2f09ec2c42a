package partition

import (
	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
)

// Identity says which replica this is. It never changes.
type Identity struct {
	Topic     string
	TopicID   kafka.TopicID
	Partition kafka.PartitionID
	Broker    kafka.BrokerID // this node
}

// Name returns the partition.
func (i *Identity) Name() kafka.TopicPartition {
	return kafka.TopicPartition{Topic: i.Topic, Partition: i.Partition}
}

// Checkpointed is what the offset checkpoints say of a replica, 0 without an entry.
type Checkpointed struct {
	RecoveryPoint, LogStart, HighWatermark kafka.Offset
}

// Counters are the replica's metrics.
type Counters struct {
	BatchesIn, RecordsIn, BytesIn int64
	BytesOut                      int64
	Duplicates                    int64
	Refused                       int64 // batches that were not appended
	Parked                        int64 // appends that had to wait for an acknowledgement
	Fences                        int64
	Recoveries                    int64
	RecoveredBytes, CutBytes      int64

	// As a follower.
	ReplicatedBatches, ReplicatedBytes int64
	CorruptBatches                     int64 // of the leader's, and refused
	Truncations                        int64
}

// Replica is one replica. It is driven by the broker's loop: every method belongs to a turn. After
// any call that takes an Effects, drain Outcomes and Lookups, and ask TakeChanged.
type Replica struct {
	Identity
	Counters Counters

	directory string // below the data directory
	handles   *commitlog.Handles
	config    *kafka.TopicConfig
	logConfig *commitlog.Config
	durably   bool         // see SetDurably
	start     Checkpointed // where a recovery begins

	state State
	job   env.Token      // of Creating, Recovering, Deleting; zero otherwise
	log   *commitlog.Log // from Opening on, until abandoned
	err   error          // of the last failed job
	clean bool           // the directory was closed cleanly by the previous process
	// cleanStart: it was when the log was opened last.
	cleanStart bool
	// suspect: a write or a sync of the log failed in this process, so what the page cache holds
	// of it proves nothing until recovery has written it again.
	suspect bool
	// deletion names the directory while it is being removed.
	deletion [16]byte
	partial  bool // a creation has failed, and may have left a directory

	// What the replica is, at most one of them, and only while the log is open. told is the newest
	// leader epoch that the metadata have told of.
	lead   *leader
	follow *follower
	told   kafka.LeaderEpoch
	rest   rest // of the role, while the log is not open

	// forLocal waits for this replica's own end (acks=1), forAll for the high watermark.
	forLocal, forAll acknowledgements

	truncation *truncation // that the next recovery makes, nil for none

	// Invariant while the log is open: LogStart <= highWatermark <= Written.
	highWatermark kafka.Offset

	locating []located
	lookups  []lookup

	outcomes []Outcome
	found    []Lookup
	changed  bool
	grown    kafka.Offset // the written end that TakeGrown has told
}

// New makes a replica. With exists there is a directory for it, and start and clean say what is
// known about that; otherwise one is to be created.
func New(id Identity, handles *commitlog.Handles, config *kafka.TopicConfig,
	logConfig *commitlog.Config, exists bool, start Checkpointed, clean bool,
) *Replica {
	name := id.Name()
	r := &Replica{
		Identity: id, directory: name.String(), handles: handles, config: config,
		logConfig: logConfig, start: start, clean: clean, state: Absent,
		highWatermark: start.HighWatermark, told: kafka.NoLeaderEpoch, rest: newRest(),
	}
	if exists {
		r.state = Waiting
	}
	return r
}

// State returns where the replica is in its life.
func (r *Replica) State() State { return r.state }

// Err returns why the last job failed, or nil.
func (r *Replica) Err() error { return r.err }

// Handles returns the maker of the replica's ids and keeper of its leases.
func (r *Replica) Handles() *commitlog.Handles { return r.handles }

// Path returns the replica's directory.
func (r *Replica) Path() env.Path { return env.Path{Dir: r.handles.Dir(), Name: r.directory} }

// Config returns the topic's settings. Immutable.
func (r *Replica) Config() *kafka.TopicConfig { return r.config }

// SetConfig replaces the topic's settings.
func (r *Replica) SetConfig(config *kafka.TopicConfig, logConfig *commitlog.Config,
	out *env.Effects,
) {
	r.config, r.logConfig = config, logConfig
	if r.log != nil && r.state != Closing {
		r.log.SetConfig(logConfig, out)
		r.advance(out)
	}
}

// SetDurably says whether the topic itself is in flush mode, which is then in force on every broker that
// has read so in the metadata. As a leader this replica commits from then on only what each replica that
// counts has said to hold durably: so a follower that has not read it yet is waited for. A flush mode
// that only this broker was started with says nothing of the others, and does not wait. Call it before
// SetConfig, which takes the effect.
func (r *Replica) SetDurably(durably bool) {
	r.durably = durably
	if r.lead != nil {
		r.lead.durably = durably
	}
}

// HighWatermark is the end of what is committed, exclusive.
func (r *Replica) HighWatermark() kafka.Offset { return r.highWatermark }

// LastStableOffset is the end of what readers of committed transactions may see.
func (r *Replica) LastStableOffset() kafka.Offset { return r.highWatermark }

// LogStartOffset is the first offset that clients may read.
func (r *Replica) LogStartOffset() kafka.Offset {
	if r.log == nil {
		return r.start.LogStart
	}
	return r.log.LogStartOffset()
}

// LogEndOffset is the end of what is written, exclusive.
func (r *Replica) LogEndOffset() kafka.Offset {
	if r.log == nil {
		return r.highWatermark
	}
	return r.log.Written()
}

// Log returns the open log, or nil. For checks and metrics; the replica owns it.
func (r *Replica) Log() *commitlog.Log { return r.log }

// LeaderEpoch returns the epoch in which this replica leads, or kafka.NoLeaderEpoch.
func (r *Replica) LeaderEpoch() kafka.LeaderEpoch {
	if r.lead == nil {
		return kafka.NoLeaderEpoch
	}
	return r.lead.epoch
}

// Leading says whether the metadata make this replica the leader, online or not.
func (r *Replica) Leading() bool { return r.lead != nil || r.rest.lead != nil }

// Outcomes appends the acknowledgements since the last call to dst.
func (r *Replica) Outcomes(dst []Outcome) []Outcome {
	dst = append(dst, r.outcomes...)
	r.outcomes = r.outcomes[:0]
	return dst
}

// TakeChanged says whether what a fetch would be told has changed since the last call: high
// watermark, the end of what is written of a leader with followers, log start, availability, leadership, or a position that was looked up.
func (r *Replica) TakeChanged() bool {
	changed := r.changed
	r.changed = false
	return changed
}

// TakeGrown says whether what followers may read has changed since the last call.
func (r *Replica) TakeGrown() bool {
	end := r.LogEndOffset()
	grown := end != r.grown
	r.grown = end
	return grown
}

// Checkpoint returns what to put into the offset checkpoints; ok is false while there is nothing. A
// replica whose log is not open, or can not be, keeps what its recovery began with: a checkpoint
// without it would have the next recovery take damage below the recovery point for a torn tail.
func (r *Replica) Checkpoint() (c Checkpointed, ok bool) {
	switch {
	case r.log != nil:
		return Checkpointed{r.log.RecoveryPoint(), r.log.LogStartOffset(), r.highWatermark}, true
	case r.state == Waiting, r.state == Recovering, r.state == Damaged, r.state == Closed:
		return r.start, true
	}
	return c, false
}

// ExpireProducers forgets idle producers; wallMs is clamped by an ExpiryClock.
func (r *Replica) ExpireProducers(now env.Now) {
	if r.state == Online {
		r.log.ExpireProducers(now)
	}
}

// OnFileDone takes the completion of a file effect of this replica.
func (r *Replica) OnFileDone(ev *env.Event, out *env.Effects) {
	if r.log == nil || !r.log.OnFileDone(ev, out) {
		return
	}
	r.settle(out)
}

// settle takes the steps that the state of the log now allows.
func (r *Replica) settle(out *env.Effects) {
	switch r.state {
	case Opening:
		r.finishOpening(out)
	case Online:
		if r.log.Fenced() {
			r.fence(out)
			r.finishFenced(out)
			return
		}
		r.advance(out)
		r.followLeader()
	case Fenced:
		r.finishFenced(out)
	case Truncating:
		r.finishTruncating(out)
	case Closing:
		r.finishClosing(out)
	case Draining:
		r.finishDraining(out)
	}
}
