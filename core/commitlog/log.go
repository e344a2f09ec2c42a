package commitlog

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

// Log is the log of one replica. See the package comment for its life.
type Log struct {
	handles *Handles
	config  *Config
	name    string
}

// Open makes a log of what RecoverJob found and emits the effects that open its files. name is
// the replica's directory below the data directory. The Recovered belongs to the log from now on.
func Open(h *Handles, name string, config *Config, r *Recovered, out *env.Effects) *Log {
	panic("not yet")
}

// SetConfig replaces the settings from the next append on.
func (l *Log) SetConfig(config *Config) { panic("not yet") }

// Ready says whether every file is open, so that ranges may be handed out.
func (l *Log) Ready() bool { panic("not yet") }

// Assigned is the end of what has been given an offset, exclusive: the log end offset to which
// the next batch is appended. LogStartOffset <= Synced <= Written <= Assigned.
func (l *Log) Assigned() kafka.Offset { panic("not yet") }

// Written is the end of the contiguous prefix of completed writes: what followers and readers
// may see.
func (l *Log) Written() kafka.Offset { panic("not yet") }

// Synced is the end of what is durable.
func (l *Log) Synced() kafka.Offset { panic("not yet") }

// AckEnd is the end that this replica contributes to the high watermark: Synced in flush mode,
// Written otherwise.
func (l *Log) AckEnd() kafka.Offset { panic("not yet") }

// RecoveryPoint is the offset below which everything is durable, companions included, and at
// which a recovery may begin. Put it into the recovery-point checkpoint.
func (l *Log) RecoveryPoint() kafka.Offset { panic("not yet") }

// LogStartOffset is the first offset that clients may read.
func (l *Log) LogStartOffset() kafka.Offset { panic("not yet") }

// LocalLogStartOffset is the first offset that lies in a segment of this node.
func (l *Log) LocalLogStartOffset() kafka.Offset { panic("not yet") }

// MaxTimestamp returns the largest timestamp in the active segment, for metrics, or
// kafka.NoTimestamp.
func (l *Log) MaxTimestamp() int64 { panic("not yet") }

// SizeBytes is the size of all segments, written or not.
func (l *Log) SizeBytes() int64 { panic("not yet") }

// Fenced says whether an effect failed. Batches in [Written, Assigned) have failed, none can be
// appended, and the log has to be recovered under new file ids.
func (l *Log) Fenced() bool { panic("not yet") }

// FenceReason returns the failure that fenced the log, or OK.
func (l *Log) FenceReason() env.Errno { panic("not yet") }

// Fence fences the log for a reason of the owner's: a failed read, a truncation. Effects under
// way are waited for as after a failure.
func (l *Log) Fence(reason env.Errno) { panic("not yet") }

// Quiescent says whether no effect and no job of the log is outstanding.
func (l *Log) Quiescent() bool { panic("not yet") }

// Abandon forgets all files of a quiescent log; leased ones stay readable until released. The log
// must not be used afterwards.
func (l *Log) Abandon(out *env.Effects) { panic("not yet") }

// Close starts a clean close: no appends from now on; pending writes are waited for, the log and
// its indexes are synced, indexes get their last entry, and snapshot and epoch checkpoint are
// written. A failure on the way fences the log.
func (l *Log) Close(out *env.Effects) { panic("not yet") }

// Closed says whether a Close is complete and every file forgotten. RecoveryPoint is the log end
// then. False for ever when the log was fenced on the way.
func (l *Log) Closed() bool { panic("not yet") }

// OnFileDone consumes the completion of a FileOp of this log. It returns false for one that is
// not (or no longer) the log's. Compare the ends and Fenced before and after.
func (l *Log) OnFileDone(ev *env.Event, out *env.Effects) bool { panic("not yet") }

// OnJobDone consumes the completion of a job that the log has started (sealing, Locate). It
// returns false for one that is not the log's.
func (l *Log) OnJobDone(ev *env.Event, out *env.Effects) bool { panic("not yet") }

// Appended says where a batch was put.
type Appended struct {
	BaseOffset, LastOffset kafka.Offset
	// LogAppendTime is the time that was stamped, or kafka.NoTimestamp.
	LogAppendTime int64
	// Duplicate: nothing was appended; the offsets are those of the batch that was appended
	// first. Answer when the high watermark has passed LastOffset, as for an original.
	Duplicate bool
	// Pending: the original of the duplicate is not written yet.
	Pending bool
	// Rolled: the batch is the first of a new segment.
	Rolled bool
}

// Append appends one batch that the leader has judged, under its epoch. It takes the next offset
// and file position and emits the write, which takes over the caller's reference of buf. On an
// error nothing is emitted and the reference stays the caller's; likewise for a duplicate.
//
// Errors: OutOfOrderSequenceNumber, InvalidProducerEpoch, RecordListTooLarge, KafkaStorageError.
func (l *Log) Append(now env.Now, facts *record.Facts, buf env.BufRef, epoch kafka.LeaderEpoch,
	out *env.Effects) (Appended, kafka.ErrorCode) {
	panic("not yet")
}

// AppendReplica appends one batch as the leader wrote it: the offset and epoch are the batch's
// own. Sequences are not judged. facts.BaseOffset must not be below Assigned.
func (l *Log) AppendReplica(now env.Now, facts *record.Facts, buf env.BufRef,
	out *env.Effects) (Appended, kafka.ErrorCode) {
	panic("not yet")
}

// Found is a range of whole batches in one segment.
type Found struct {
	File    env.FileID
	Off     int64        // position of the first batch
	Len     int64        // 0: nothing to read below upTo, or nothing that fits
	Segment kafka.Offset // base offset of the segment
	Start   kafka.Offset // base offset of the first batch; at most the offset asked for
	End     kafka.Offset // offset after the last batch
	// Locate: the position is not at hand. Call Locate, and Find again once its job is done.
	Locate bool
}

// Find returns a range that starts with the batch that contains offset, ends on a batch boundary
// with no record at or above upTo, and has at most maxBytes; with minOne the first batch may be
// larger. It takes no lease.
//
// Errors: OffsetOutOfRange for an offset below LogStartOffset or above Written; KafkaStorageError
// when the log is fenced.
func (l *Log) Find(offset kafka.Offset, maxBytes int64, minOne bool,
	upTo kafka.Offset) (Found, kafka.ErrorCode) {
	panic("not yet")
}

// Locate starts a job that finds the position of offset, after Find said Locate, and returns the
// job's token. Pass its completion to OnJobDone, which returns true and remembers the positions.
// If the same Find says Locate again after that, the files can not be read: LocateError.
func (l *Log) Locate(offset kafka.Offset, out *env.Effects) env.Token { panic("not yet") }

// FindByTime returns the job that looks for the first record at or above LogStartOffset and below
// upTo with a timestamp of at least timestamp, or, for kafka.MaxTimestamp, for the first record
// with the largest timestamp. The owner starts it under its own token; it yields a TimeFound.
func (l *Log) FindByTime(timestamp int64, upTo kafka.Offset, maxDecompressed int64) env.Job {
	panic("not yet")
}

// TimeFound is the result of a FindByTime job.
type TimeFound struct {
	Offset    kafka.Offset // kafka.NoOffset: no such record
	Timestamp int64
	Epoch     kafka.LeaderEpoch // of the record's batch
	Err       error             // the files could not be read
}

// AssignEpoch records that epoch begins at the log's end, before the new leader serves anything
// (kafka-map rule 3). Entries that contradict it are dropped (rule 4).
func (l *Log) AssignEpoch(epoch kafka.LeaderEpoch) { panic("not yet") }

// EndOffsetFor answers OffsetForLeaderEpoch: the largest epoch <= epoch that the log knows, and
// its end offset; kafka.NoLeaderEpoch and kafka.NoOffset if there is none.
func (l *Log) EndOffsetFor(epoch kafka.LeaderEpoch) (kafka.LeaderEpoch, kafka.Offset) {
	panic("not yet")
}

// LatestEpoch is the epoch of the newest entry, or kafka.NoLeaderEpoch.
func (l *Log) LatestEpoch() kafka.LeaderEpoch { panic("not yet") }

// EpochAt is the epoch of the record at offset, or kafka.NoLeaderEpoch.
func (l *Log) EpochAt(offset kafka.Offset) kafka.LeaderEpoch { panic("not yet") }

// ExpireProducers forgets producers whose last batch is older than ProducerExpirationMs, and
// returns how many. Call it now and then. Wall time decides, so it is clamped: a producer with
// batches pending stays.
func (l *Log) ExpireProducers(now env.Now) int { panic("not yet") }
