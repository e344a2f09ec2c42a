package commitlog

import (
	"errors"
	"fmt"
	"math"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// RecoverJob reads the directory of a replica and makes it fit to be opened. The result is a
// *Recovered. It may be run again after a crash at any point.
//
// A clean start reads headers behind the last index entry of each segment, and nothing else of
// the log. Otherwise every batch from the segment that holds the recovery point on is verified;
// the log ends at the first batch that fails, without looking behind it. Below the recovery point
// a failure is corruption, not a lost page, and nothing is changed.
type RecoverJob struct {
	Path    env.Path      // directory of the replica
	TopicID kafka.TopicID // must equal the directory's; zero accepts any
	Config  *Config
	WallMs  int64 // producers idle for longer than ProducerExpirationMs are left out
	// Clean: the node's clean-start marker holds for this directory, so nothing is scanned.
	Clean bool
	// RecoveryPoint and LogStart are the replica's entries in the checkpoints, 0 without one. The
	// recovery point counts only as far as the directory confirms it by a producer snapshot at or
	// above it: the entry may be of an earlier life of the partition.
	RecoveryPoint kafka.Offset
	LogStart      kafka.Offset
	// TruncateTo cuts the log to end at the batch boundary at or below this offset; set it to
	// kafka.NoOffset for a plain recovery.
	TruncateTo kafka.Offset
	// Replace: TruncateTo lies below what was served by sendfile, which may still read the pages of
	// the file. The segment that is cut becomes a new file, and the old one is left as it is.
	Replace bool
	// Rewrite: a write or a sync of these files has failed since they were opened, so what the
	// page cache holds of them proves nothing (see rewriteSuspects).
	Rewrite bool
}

// Recovered is what RecoverJob found. Hand it to Open, once.
type Recovered struct {
	// Missing: there is no such directory.
	Missing bool
	// Corrupt: structure below the recovery point is broken. Nothing was changed. The replica
	// must not serve what the directory holds.
	Corrupt bool
	// WrongTopic: the directory belongs to another topic id.
	WrongTopic bool
	Err        error // why, for Corrupt and WrongTopic; otherwise an I/O failure

	Scanned   int64 // bytes verified
	Cut       int64 // bytes cut from the end, deleted segments included
	CutReason string
	LogStart  kafka.Offset
	End       kafka.Offset // all below is written and synced
	TopicID   kafka.TopicID
	WallMs    int64
	Snapshot  kafka.Offset // offset of the producer snapshot that was used, or kafka.NoOffset
	Snapshots int          // unusable snapshots that were passed over

	segments      []recoveredSegment
	active        indexSummary
	recoveryPoint kafka.Offset
	epochs        epochCache
	producers     producers
	foundClean    bool
}

// recoveredSegment is a segment as recovery leaves it.
type recoveredSegment struct {
	base, end      kafka.Offset
	bytes          int64
	firstTimestamp int64
	max            TimeEntry
}

// Usable says whether the result can be opened.
func (r *Recovered) Usable() bool {
	return !r.Missing && !r.Corrupt && !r.WrongTopic && r.Err == nil
}

// Name names the job for traces.
func (*RecoverJob) Name() string { return "recover-log" }

// finding is an error that is a finding about the directory, not a failure of the disk.
type finding string

const (
	errCorrupt    finding = "corrupt"
	errWrongTopic finding = "another topic's directory"
)

// Error gives the finding.
func (f finding) Error() string { return string(f) }

// Run recovers the directory.
func (j *RecoverJob) Run(disk env.Disk) any {
	r := &recovery{
		job:  j,
		disk: disk,
		out: &Recovered{
			TopicID:  j.TopicID,
			WallMs:   j.WallMs,
			Snapshot: kafka.NoOffset,
		},
	}
	entries, errno := disk.List(j.Path)
	if errno == env.ENOENT {
		r.out.Missing = true
		return r.out
	}
	err := failed("list", j.Path, errno)
	if err == nil {
		err = r.run(entries)
	}
	if err != nil {
		r.out.Corrupt = errors.Is(err, errCorrupt)
		r.out.WrongTopic = errors.Is(err, errWrongTopic)
		r.out.Err = fmt.Errorf("recover %s: %w", j.Path.Name, err)
	}
	return r.out
}

// recovery is one run of a RecoverJob. It first examines, changing nothing, then repairs.
type recovery struct {
	job  *RecoverJob
	disk env.Disk
	out  *Recovered
	inventory

	point      kafka.Offset // the recovery point, as far as the directory confirms it
	noMetadata bool
	marked     bool // the mark of a recovery under way lies in the directory
	epochs     epochCache
	epochsBad  bool // the checkpoint is missing or broken
	producers  producers

	from      int // first segment that is verified batch by batch
	x         structure
	cutting   bool // the log ends before the last file does
	truncated bool // because TruncateTo says so

	deleteFrom int // first segment behind the end
}

func (r *recovery) run(entries []env.DirEntry) error {
	r.inventory = takeInventory(entries)
	r.point = r.confirmedPoint()
	if len(r.unfinished) > 0 {
		return fmt.Errorf("%w: unfinished compaction: %s", errCorrupt, r.unfinished[0])
	}
	if err := r.checkTopic(); err != nil {
		return err
	}
	if len(r.segments) == 0 {
		if err := r.startEmpty(); err != nil {
			return err
		}
	}
	if r.job.Rewrite || r.interrupted {
		if err := r.rewriteSuspects(); err != nil {
			return err
		}
	}
	if err := r.examine(); err != nil {
		return err
	}
	if err := r.repair(); err != nil {
		return err
	}
	r.finish()
	return nil
}

func (r *recovery) checkTopic() error {
	b, errno := ReadFile(r.disk, child(r.job.Path, PartitionMetadataName))
	if errno == env.ENOENT {
		r.noMetadata = true
		return nil
	}
	if errno != env.OK {
		return failed("read", child(r.job.Path, PartitionMetadataName), errno)
	}
	id, err := DecodePartitionMetadata(b)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", errCorrupt, PartitionMetadataName, err)
	}
	if r.job.TopicID != (kafka.TopicID{}) && id != r.job.TopicID && !invariant.CanaryReplicaByName.On() {
		return fmt.Errorf("%w: of topic id %s, want %s", errWrongTopic, id, r.job.TopicID)
	}
	r.out.TopicID = id
	return nil
}

// confirmedPoint returns the recovery point that counts. A seal and a clean close write a producer
// snapshot before the recovery point moves to its offset, and a truncation deletes snapshots
// before it cuts, so a point above the newest one is not about what lies in this directory.
func (r *recovery) confirmedPoint() kafka.Offset {
	if invariant.CanaryRecoveryPointEarly.On() {
		return r.job.RecoveryPoint
	}
	return min(r.job.RecoveryPoint, r.newestSnapshot(math.MaxInt64))
}

// newestSnapshot returns the offset of the newest snapshot at or below end, usable or not, and
// the first offset of the log without one.
func (r *recovery) newestSnapshot(end kafka.Offset) kafka.Offset {
	newest := kafka.Offset(0)
	if len(r.segments) > 0 {
		newest = r.segments[0].base
	}
	for _, offset := range r.snapshots {
		if offset <= end {
			newest = max(newest, offset)
		}
	}
	return newest
}

// startEmpty makes the first segment of a directory without any: a crash during CreateJob.
func (r *recovery) startEmpty() error {
	if r.point > r.job.LogStart {
		return fmt.Errorf("%w: no segments, but a recovery point at %d", errCorrupt, r.point)
	}
	base := r.job.LogStart
	if err := createSegment(r.disk, r.job.Path, base); err != nil {
		return err
	}
	r.segments = []foundSegment{{base: base, hasIndex: true, hasTimeIndex: true}}
	return SyncDirectory(r.disk, r.job.Path)
}

// examine finds out where the log ends and derives its state, and changes nothing.
func (r *recovery) examine() error {
	if err := r.loadEpochs(); err != nil {
		return err
	}
	clean := r.job.Clean && r.job.TruncateTo < 0
	r.from = len(r.segments)
	if !clean {
		r.from = r.firstToScan()
	}
	for i := range r.from {
		if err := r.verify(i); err != nil {
			return err
		}
	}
	if clean {
		return r.examineClean()
	}
	base := r.segments[r.from].base
	r.epochs.truncateFromEnd(base)
	if err := r.rebuildBelow(base); err != nil {
		return err
	}
	return r.scanAll()
}

// firstToScan returns the segment that holds the recovery point, or the truncation if earlier.
func (r *recovery) firstToScan() int {
	point := r.point
	if r.job.TruncateTo >= 0 {
		point = min(point, r.job.TruncateTo)
	}
	first := 0
	for i := range r.segments {
		if r.segments[i].base <= point {
			first = i
		}
	}
	return first
}

// examineClean derives the state of a log that was closed cleanly.
func (r *recovery) examineClean() error {
	invariant.Sometimes(true, invariant.MarkCleanStart)
	last := &r.segments[len(r.segments)-1]
	if last.end < r.point {
		return fmt.Errorf("%w: the log ends at %d below the recovery point %d",
			errCorrupt, last.end, r.point)
	}
	r.epochs.truncateFromEnd(last.end + 1)
	return r.rebuildBelow(last.end)
}

// finish fills in the result.
func (r *recovery) finish() {
	out := r.out
	for i := range r.segments {
		s := &r.segments[i]
		out.segments = append(out.segments, recoveredSegment{
			s.base, s.end, s.bytes, s.firstTimestamp, s.index.max,
		})
		out.End = s.end
	}
	out.active = r.segments[len(r.segments)-1].index
	out.LogStart = max(out.segments[0].base, min(r.job.LogStart, out.End))
	if r.job.WallMs > 0 {
		r.producers.expire(r.job.WallMs, r.job.Config.ProducerExpirationMs)
	}
	out.epochs, out.producers = r.epochs, r.producers
	out.recoveryPoint = r.newestSnapshot(out.End)
	out.foundClean = r.changedNothing() && out.Snapshot == out.End
	scanned := r.from < len(r.segments)
	invariant.Sometimes(scanned && out.Snapshot >= 0, invariant.MarkRecoveryFromSnapshot)
	invariant.Sometimes(out.Cut > 0 && !r.truncated, invariant.MarkTornTailCut)
}
