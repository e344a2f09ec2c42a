package scenarios

import (
	"stet/core/commitlog"
	"stet/core/kafka"
	"stet/core/record"
	"stet/scenarios/schedule"
	"stet/scenarios/storedlog"
	"stet/sim"
)

// workshop is a copy of a disk on which recoveries are run without touching the original, in a
// little world of its own.
type workshop struct {
	scheduler *sim.Scheduler
	disk      *sim.Disk
}

// newWorkshop copies the disk as it is now.
func (m *monitor) newWorkshop() *workshop {
	m.clones++
	entropy := sim.NewEntropy(m.world.Entropy.Seed() + m.clones)
	trace := sim.NewTrace(entropy)
	s := sim.NewScheduler(trace)
	return &workshop{s, m.machine.Disk.Clone(s, sim.NewFaultLog(trace), entropy.Stream("disk", 0))}
}

// recover runs a recovery of a partition. With kill it dies at its kill-th disk call and nil is
// returned, unless it needs fewer.
func (w *workshop) recover(job *commitlog.RecoverJob, kill int) *commitlog.Recovered {
	owner := w.scheduler.NewOwner(1)
	mount := w.disk.Mount(owner)
	if kill > 0 {
		calls := 0
		w.disk.Plan = planFunc(func(sim.DiskOp) sim.DiskFault {
			if calls++; calls == kill {
				return sim.DiskFault{Kind: sim.DiskKillDuring}
			}
			return sim.DiskFault{}
		})
		w.disk.Strike = func(c sim.Cause) { w.scheduler.Kill(owner, c) }
	}
	var result *commitlog.Recovered
	w.scheduler.Spawn(0, owner, job.Name(), func() {
		result = job.Run(mount).(*commitlog.Recovered)
	})
	w.scheduler.RunUntil(sim.Never, nil)
	w.disk.Plan = sim.NoDiskFaults{}
	return result
}

// planFunc makes a function a plan.
type planFunc func(sim.DiskOp) sim.DiskFault

// Decide implements sim.DiskFaults.
func (f planFunc) Decide(op sim.DiskOp) sim.DiskFault { return f(op) }

// recovery is the job that a start would run.
func (m *monitor) recovery(p kafka.PartitionID, clean bool) *commitlog.RecoverJob {
	return &commitlog.RecoverJob{
		Path: partitionPath(p), Config: logConfig(m.plan), Clean: clean,
		RecoveryPoint: m.recoveryPoints(storedlog.Cached)[p], TruncateTo: kafka.NoOffset,
	}
}

// logConfig is the configuration of a log as the broker derives it.
func logConfig(p *schedule.Schedule) *commitlog.Config {
	t := &p.Node.Broker.Topic
	return &commitlog.Config{
		SegmentBytes: t.SegmentBytes, SegmentMs: t.SegmentMs, SegmentIndexBytes: t.SegmentIndexBytes,
		IndexIntervalBytes: t.IndexIntervalBytes, FlushMessages: t.FlushMessages,
		LogAppendTime:        t.LogAppendTime,
		ProducerExpirationMs: p.Node.Broker.ProducerExpiration.Milliseconds(),
		IndexWriteEntries:    p.Node.Broker.IndexWriteEntries,
	}
}

// checkRecoverTwice is S4: a recovery that is killed at any call and run again, and one that is
// just run twice, come to the same end as one that is run once.
func (m *monitor) checkRecoverTwice(p kafka.PartitionID, kill int) {
	if len(segmentBases(m.machine.Disk, p)) == 0 {
		return
	}
	once := m.newWorkshop()
	want := once.recover(m.recovery(p, false), 0)
	if want == nil || !want.Usable() {
		return
	}
	m.checked("S4")
	twice := m.newWorkshop()
	twice.recover(m.recovery(p, false), kill)
	got := twice.recover(m.recovery(p, false), 0)
	m.sameState("S4", p, want, got, "recovered twice")
	m.sameState("S4", p, want, once.recover(m.recovery(p, false), 0), "recovered again")
	a, b := readLog(once.disk, p, storedlog.Cached), readLog(twice.disk, p, storedlog.Cached)
	if at, ok := differ(a, b); ok || a.End != b.End {
		m.fails("S4", "%s: two recoveries differ at offset %d, ends %d and %d", topicPartition(p), at,
			a.End, b.End)
	}
}

func (m *monitor) sameState(c Check, p kafka.PartitionID, want, got *commitlog.Recovered, how string) {
	if got == nil || !got.Usable() {
		m.fails(c, "%s, %s: not usable: %+v", topicPartition(p), how, got)
		return
	}
	if a, b := want.DerivedState().Canonical(), got.DerivedState().Canonical(); a != b {
		m.fails(c, "%s, %s:\n  %s\n  %s", topicPartition(p), how, a, b)
	}
}

// checkDerived is R12, and with it R11: what the live log keeps in memory is what a recovery makes
// of its files. The log must be quiet.
func (m *monitor) checkDerived(p kafka.PartitionID, log *commitlog.Log) {
	m.checked("R11")
	m.checked("R12")
	r := m.newWorkshop().recover(m.recovery(p, false), 0)
	if r == nil || !r.Usable() {
		m.fails("R12", "%s: the files of a live log can not be recovered: %+v", topicPartition(p), r)
		return
	}
	live, again := log.DerivedState(), r.DerivedState()
	if live.Canonical() != again.Canonical() {
		check := Check("R12")
		if len(live.Epochs) != len(again.Epochs) {
			check = "R11"
		}
		m.fails(check, "%s: live and recovered state differ:\n  %s\n  %s", topicPartition(p),
			live.Canonical(), again.Canonical())
	}
}

// checkIndexes is S8: every entry of an index that a recovery would trust tells the truth.
func checkIndexes(f *findings, d *sim.Disk, p kafka.PartitionID, log *storedlog.Log) {
	for _, s := range log.Segments {
		checkOffsetIndex(f, d, p, log, s.Base)
		checkTimeIndex(f, d, p, log, s.Base)
	}
}

func checkOffsetIndex(f *findings, d *sim.Disk, p kafka.PartitionID, log *storedlog.Log,
	base kafka.Offset,
) {
	b, _ := d.Bytes(segmentPath(p, base, ".index"))
	entries, err := commitlog.DecodeIndex(b, base)
	if err != nil {
		f.fails("S8", "%s: index %d: %v", topicPartition(p), base, err)
	}
	for _, e := range entries {
		f.checked("S8")
		found := false
		for _, batch := range log.Batches {
			found = found || batch.Segment == base && batch.Position == e.Position &&
				batch.LastOffset() == e.Offset
		}
		if !found {
			f.fails("S8", "%s: index %d: no batch at position %d ends with %d", topicPartition(p), base,
				e.Position, e.Offset)
		}
	}
}

func checkTimeIndex(f *findings, d *sim.Disk, p kafka.PartitionID, log *storedlog.Log,
	base kafka.Offset,
) {
	b, _ := d.Bytes(segmentPath(p, base, ".timeindex"))
	entries, err := commitlog.DecodeTimeIndex(b, base)
	if err != nil {
		f.fails("S8", "%s: time index %d: %v", topicPartition(p), base, err)
	}
	for _, e := range entries {
		f.checked("S8")
		highest := kafka.NoTimestamp
		for _, batch := range log.Batches {
			if batch.Segment == base && batch.LastOffset() <= e.Offset {
				highest = max(highest, batch.MaxTimestamp())
			}
		}
		if highest != e.Timestamp {
			f.fails("S8", "%s: time index %d: %d up to offset %d, the log has %d", topicPartition(p),
				base, e.Timestamp, e.Offset, highest)
		}
	}
}

// checkSequences is P1 and P2: one copy of each batch of a producer, and no holes between them.
func checkSequences(f *findings, p kafka.PartitionID, log *storedlog.Log) {
	type producer struct {
		id    kafka.ProducerID
		epoch kafka.ProducerEpoch
	}
	next := map[producer]kafka.Sequence{}
	seen := map[producer]map[kafka.Sequence]kafka.Offset{}
	for _, b := range log.Batches {
		key := producer{b.ProducerID(), b.ProducerEpoch()}
		if key.id < 0 || b.Attributes().IsControl() {
			continue
		}
		f.checked("P1")
		if seen[key] == nil {
			seen[key] = map[kafka.Sequence]kafka.Offset{}
		}
		if first, ok := seen[key][b.BaseSequence()]; ok {
			f.fails("P1", "%s: producer %d epoch %d sequence %d stands at offsets %d and %d",
				topicPartition(p), key.id, key.epoch, b.BaseSequence(), first, b.BaseOffset())
		}
		seen[key][b.BaseSequence()] = b.BaseOffset()
		if want, ok := next[key]; ok {
			f.checked("P2")
			if want != b.BaseSequence() {
				f.fails("P2", "%s: producer %d epoch %d: sequence %d at offset %d, after one that ends "+
					"before %d", topicPartition(p), key.id, key.epoch, b.BaseSequence(), b.BaseOffset(), want)
			}
		}
		next[key] = b.LastSequence().Add(1)
	}
}

// checkCorruption is S7: a batch that decays below the recovery point is never taken for the end of
// the log. On a copy of the disk, a byte of a batch's head is inverted; a recovery then refuses the
// directory, or finds the log no shorter.
func (m *monitor) checkCorruption(p kafka.PartitionID, log *storedlog.Log, pick int) {
	job := m.recovery(p, false)
	var below []storedlog.Batch
	for _, b := range log.Batches {
		if b.NextOffset() <= job.RecoveryPoint {
			below = append(below, b)
		}
	}
	if len(below) == 0 {
		return
	}
	m.checked("S7")
	w := m.newWorkshop()
	b := below[pick%len(below)]
	w.disk.Flip(segmentPath(p, b.Segment, ".log"), b.Position+int64(pick%record.HeaderSize), uint(pick%8))
	m.judgeDecay(p, b.BaseOffset(), job.RecoveryPoint, w.recover(job, 0))
}

// judgeDecay judges what a recovery made of a batch that had decayed below the recovery point.
func (m *monitor) judgeDecay(p kafka.PartitionID, decayed, point kafka.Offset,
	r *commitlog.Recovered,
) {
	if r != nil && r.Usable() && r.DerivedState().End < point {
		m.fails("S7", "%s: offset %d decays below the recovery point %d, and the log ends at %d",
			topicPartition(p), decayed, point, r.DerivedState().End)
	}
}
