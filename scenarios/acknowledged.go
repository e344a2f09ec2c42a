package scenarios

import (
	"stet/core/kafka"
	"stet/scenarios/storedlog"
)

// checkAcknowledged is R10: when a client learns that a batch stands, it lies below the high
// watermark, in the log, and with flush mode on the medium.
func (m *monitor) checkAcknowledged(p kafka.PartitionID, acks int16, base kafka.Offset, count int) {
	last := base + kafka.Offset(count) - 1
	if base < 0 || acks == 0 {
		return
	}
	m.checked("R10")
	if acks == -1 {
		if high := m.ghost.at(p, 0).HighWatermark; last >= high {
			m.fails("R10", "%s: offset %d was acknowledged, the high watermark never passed %d",
				topicPartition(p), last, high)
		}
	}
	if !m.plan.FlushMode() || m.partitions[p].rotten {
		return
	}
	m.checked("R10")
	if !m.onMedium(p, base, last) {
		m.fails("R10", "%s: offsets %d to %d were acknowledged in flush mode and are not durable",
			topicPartition(p), base, last)
	}
}

// onMedium says whether the medium has the batch that holds offsets [base, last].
func (m *monitor) onMedium(p kafka.PartitionID, base, last kafka.Offset) bool {
	bases := segmentBases(m.machine.Disk, p)
	at := len(bases) - 1
	for at > 0 && bases[at] > base {
		at--
	}
	if at < 0 {
		return false
	}
	content, ok := m.machine.Disk.DurableBytes(segmentPath(p, bases[at], ".log"))
	if !ok {
		return false
	}
	return storedlog.ReadSegment(bases[at], content).End > last
}
