package scenarios

import (
	"stet/core/kafka"
	"stet/core/record"
	"stet/linearizability"
	"stet/scenarios/storedlog"
)

// checkRetry is P3: an idempotent send that was tried again, and is acknowledged, is told the
// offset at which its batch stands, however often it came and whatever the first answer would have been.
// That the offset is committed by then is R10. The log is read when the client learns of it: later
// the offset may be lost by an excuse and given to another batch.
func (m *monitor) checkRetry(s *linearizability.Send, base kafka.Offset) {
	p := s.Partition.Index
	if !s.Idempotent || len(s.Attempts) < 2 || base < 0 || m.excused(p, base) {
		return
	}
	b, ok := m.batchAt(p, base)
	if !ok {
		return // lost, which is H1's business
	}
	m.checked("P3")
	var first linearizability.Value
	var scratch record.Scratch
	scratch.Records(b, 64<<20, func(r record.Record) bool {
		first = linearizability.ParseValue(r.Value)
		return false
	})
	if b.BaseOffset() != base || first != s.Records[0] {
		m.fails("P3", "%s: after %d attempts offset %d was acknowledged for %s, which holds [%d,%d) "+
			"of %s", topicPartition(p), len(s.Attempts), base, s.Records[0], b.BaseOffset(),
			b.NextOffset(), first)
	}
}

// excused says whether an offset may be gone by the faults so far.
func (m *monitor) excused(p kafka.PartitionID, at kafka.Offset) bool {
	for _, e := range m.recorder.history.Excuses {
		if e.Partition == partitionOf(p) && at >= e.From {
			return true
		}
	}
	return false
}

// batchAt returns the sound batch that holds an offset, as processes see it.
func (m *monitor) batchAt(p kafka.PartitionID, at kafka.Offset) (record.View, bool) {
	holding := kafka.NoOffset // the base of the segment
	for _, base := range segmentBases(m.machine.Disk, p) {
		if base <= at {
			holding = base
		}
	}
	if holding == kafka.NoOffset {
		return nil, false
	}
	content, _ := storedlog.Cached(m.machine.Disk, segmentPath(p, holding, ".log"))
	for _, b := range storedlog.ReadSegment(holding, content).Batches {
		if b.BaseOffset() <= at && at < b.NextOffset() {
			return b.View, true
		}
	}
	return nil, false
}
