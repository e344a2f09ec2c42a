package commitlog

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"stet/core/kafka"
)

// Names of the offset checkpoints at the root of a data directory.
const (
	RecoveryPointCheckpointName = "recovery-point-offset-checkpoint"
	LogStartCheckpointName      = "log-start-offset-checkpoint"
	HighWatermarkCheckpointName = "replication-offset-checkpoint"
)

// CheckpointEntry is a line of an offset checkpoint.
type CheckpointEntry struct {
	Partition kafka.TopicPartition
	Offset    kafka.Offset
}

// AppendCheckpoint encodes an offset checkpoint:
//
//	0
//	<number of entries>
//	<topic> <partition> <offset>
func AppendCheckpoint(dst []byte, entries []CheckpointEntry) []byte {
	dst = fmt.Appendf(dst, "0\n%d\n", len(entries))
	for _, e := range entries {
		dst = fmt.Appendf(dst, "%s %d %d\n", e.Partition.Topic, e.Partition.Partition, e.Offset)
	}
	return dst
}

// DecodeCheckpoint decodes an offset checkpoint. The empty file, as Kafka's cleaner leaves it, has
// no entries.
func DecodeCheckpoint(b []byte) ([]CheckpointEntry, error) {
	if len(b) == 0 {
		return nil, nil
	}
	lines, err := checkpointLines(b)
	if err != nil {
		return nil, err
	}
	entries := make([]CheckpointEntry, 0, len(lines))
	for _, line := range lines {
		fields := strings.Split(line, " ")
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %q: want topic, partition and offset", line)
		}
		partition, err1 := strconv.ParseInt(fields[1], 10, 32)
		offset, err2 := strconv.ParseInt(fields[2], 10, 64)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		tp := kafka.TopicPartition{Topic: fields[0], Partition: kafka.PartitionID(partition)}
		entries = append(entries, CheckpointEntry{tp, kafka.Offset(offset)})
	}
	return entries, nil
}

// checkpointLines checks version and count of a checkpoint file and returns its entries' lines.
func checkpointLines(b []byte) ([]string, error) {
	if !bytes.HasSuffix(b, []byte("\n")) {
		return nil, fmt.Errorf("no newline at the end")
	}
	lines := strings.Split(string(b[:len(b)-1]), "\n")
	if len(lines) < 2 || lines[0] != "0" {
		return nil, fmt.Errorf("want version 0 and a count")
	}
	count, err := strconv.Atoi(lines[1])
	if err != nil || count != len(lines)-2 {
		return nil, fmt.Errorf("count %q, but %d entries", lines[1], len(lines)-2)
	}
	return lines[2:], nil
}
