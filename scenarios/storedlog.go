package scenarios

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/scenarios/storedlog"
	"stet/sim"
)

func partitionPath(p kafka.PartitionID) env.Path {
	return env.Path{Name: topicPartition(p).String()}
}

func segmentBases(d *sim.Disk, p kafka.PartitionID) []kafka.Offset {
	return storedlog.SegmentBases(d, partitionPath(p))
}

func segmentPath(p kafka.PartitionID, base kafka.Offset, suffix string) env.Path {
	return storedlog.SegmentPath(partitionPath(p), base, suffix)
}

// readLog reads the log of a partition in one of its states.
func readLog(d *sim.Disk, p kafka.PartitionID, read storedlog.Reading) *storedlog.Log {
	return storedlog.Read(d, partitionPath(p), read)
}
