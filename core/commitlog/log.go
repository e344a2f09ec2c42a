package commitlog

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// Log is the log of one replica. See the package comment for its life.
//
// Invariants: logStart <= synced <= written <= assigned; written is the base of the first pending
// batch, or assigned without one; segments are never empty and the last one is active.
type Log struct {
	handles *Handles
	config  *Config
	path    string // directory of the replica below the data directory

	segments segments
	unsynced int // index of the first segment whose end may not be synced

	logStart      kafka.Offset
	assigned      kafka.Offset
	written       kafka.Offset
	synced        kafka.Offset
	recoveryPoint kafka.Offset

	epochs    epochCache
	producers producers
	pending   pendingQueue
	writes    int // writes of batches that have not completed
	ops       ops // everything else that is outstanding
	opening   int // ops of kind opOpen that precede Ready

	places places

	seals []*segment // rolled segments whose job waits for the one before

	changed    bool // something was appended, or an epoch assigned
	foundClean bool // recovery found the files as a close leaves them
	closing    bool
	closed     bool
	fenced     bool
	reason     env.Errno
	damage     *Damage // found by a look-up
}

// Open makes a log of what RecoverJob found and emits the effects that open its files. name is
// the replica's directory below the data directory. The Recovered belongs to the log from now on.
func Open(h *Handles, name string, config *Config, r *Recovered, out *env.Effects) *Log {
	invariant.Always(r.Usable(), "only a usable recovery is opened")
	l := &Log{
		handles:       h,
		config:        config,
		path:          name,
		logStart:      r.LogStart,
		assigned:      r.End,
		written:       r.End,
		synced:        r.End,
		recoveryPoint: r.recoveryPoint,
		epochs:        r.epochs,
		producers:     r.producers,
		foundClean:    r.foundClean,
	}
	for i, s := range r.segments {
		l.open(s, i == len(r.segments)-1, r, out)
	}
	l.unsynced = len(l.segments) - 1
	return l
}

// open takes over a recovered segment and emits the effect that opens its log.
func (l *Log) open(s recoveredSegment, active bool, r *Recovered, out *env.Effects) {
	seg := &segment{
		base: s.base, file: l.handles.NextFile(),
		end: s.end, writtenEnd: s.end, syncedEnd: s.end, syncAsked: s.end,
		bytes: s.bytes, writtenBytes: s.bytes,
		entryDurable:   true,
		firstTimestamp: s.firstTimestamp,
		createdMs:      r.WallMs,
		sealed:         !active,
		max:            s.max,
	}
	if active {
		seg.live = r.active.liveIndex(l.handles, s.base)
	}
	l.segments = append(l.segments, seg)
	l.opening++
	out.File = append(out.File, env.FileOp{
		Op: env.FileOpen, File: seg.file, Path: l.filePath(s.base, logSuffix),
		Token: l.start(op{kind: opOpen, segment: seg}),
	})
}

func (l *Log) filePath(offset kafka.Offset, suffix string) string {
	return l.path + "/" + FileName(offset, suffix)
}

// SetConfig replaces the settings from the next append on. What a shorter flush interval asks to be
// synced already is synced now.
func (l *Log) SetConfig(config *Config, out *env.Effects) {
	l.config = config
	if l.Ready() {
		l.maybeSync(out)
	}
}

// Ready says whether every file is open, so that ranges may be handed out.
func (l *Log) Ready() bool { return l.opening == 0 && !l.fenced }

// Assigned is the end of what has been given an offset, exclusive: the log end offset to which
// the next batch is appended. LogStartOffset <= Synced <= Written <= Assigned.
func (l *Log) Assigned() kafka.Offset { return l.assigned }

// Written is the end of the contiguous prefix of completed writes: what followers and readers
// may see.
func (l *Log) Written() kafka.Offset { return l.written }

// Synced is the end of what is durable.
func (l *Log) Synced() kafka.Offset { return l.synced }

// AckEnd is the end that this replica contributes to the high watermark: Synced in flush mode,
// Written otherwise.
func (l *Log) AckEnd() kafka.Offset {
	if l.config.FlushMode() {
		return l.synced
	}
	return l.written
}

// RecoveryPoint is the offset below which everything is durable, companions included, and at
// which a recovery may begin. Put it into the recovery-point checkpoint.
func (l *Log) RecoveryPoint() kafka.Offset {
	if invariant.CanaryRecoveryPointEarly.On() {
		return l.written
	}
	return l.recoveryPoint
}

// LogStartOffset is the first offset that clients may read.
func (l *Log) LogStartOffset() kafka.Offset { return l.logStart }

// LocalLogStartOffset is the first offset that lies in a segment of this node.
func (l *Log) LocalLogStartOffset() kafka.Offset { return max(l.logStart, l.segments[0].base) }

// MaxTimestamp returns the largest timestamp in the active segment, for metrics, or
// kafka.NoTimestamp.
func (l *Log) MaxTimestamp() int64 {
	return l.segments.active().maxTimestamp().Timestamp
}

// SizeBytes is the size of all segments, written or not.
func (l *Log) SizeBytes() int64 { return l.segments.sizeBytes() }

// Segments is the number of segments, the active one included.
func (l *Log) Segments() int { return len(l.segments) }

// AssignEpoch records that epoch begins at the log's end, before the new leader serves anything
// (kafka-map rule 3). Entries that contradict it are dropped (rule 4).
func (l *Log) AssignEpoch(epoch kafka.LeaderEpoch) {
	l.assignEpoch(epoch, l.assigned)
}

func (l *Log) assignEpoch(epoch kafka.LeaderEpoch, start kafka.Offset) {
	if epoch == l.epochs.latest() {
		return
	}
	l.epochs.assign(epoch, start)
	l.epochs.check()
}

// CutEpochs drops the epochs that begin at end or behind it: those of a truncation to end, also of
// one that has no records to cut (kafka-map rule 4).
func (l *Log) CutEpochs(end kafka.Offset) {
	l.epochs.truncateFromEnd(end)
	l.changed = true
}

// AdvanceLogStart moves the first offset that clients may read up to start. The caller sees to it
// that start is not above the high watermark. Segments below it stay.
func (l *Log) AdvanceLogStart(start kafka.Offset) {
	invariant.Always(start <= l.written, "the log start is within the log")
	l.logStart = max(l.logStart, start)
}

// EndOffsetFor answers OffsetForLeaderEpoch: the largest epoch <= epoch that the log knows, and
// its end offset; kafka.NoLeaderEpoch and kafka.NoOffset if there is none.
func (l *Log) EndOffsetFor(epoch kafka.LeaderEpoch) (kafka.LeaderEpoch, kafka.Offset) {
	return l.epochs.endOffsetFor(epoch, l.written)
}

// LatestEpoch is the epoch of the newest entry, or kafka.NoLeaderEpoch.
func (l *Log) LatestEpoch() kafka.LeaderEpoch { return l.epochs.latest() }

// EpochAt is the epoch of the record at offset, or kafka.NoLeaderEpoch.
func (l *Log) EpochAt(offset kafka.Offset) kafka.LeaderEpoch { return l.epochs.at(offset) }

// ExpireProducers forgets producers whose last batch is older than ProducerExpirationMs, and
// returns how many. Call it now and then. Wall time decides, so it is clamped: a producer with
// batches pending or a transaction open stays.
func (l *Log) ExpireProducers(now env.Now) int {
	return l.producers.expire(now.WallMs, l.config.ProducerExpirationMs)
}
