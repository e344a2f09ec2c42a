package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stet/core/commitlog"
	"stet/core/kafka"
)

func dumpSnapshot(p *printer, path string, _ *dumpFlags) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if filepath.Ext(path) == ".sequences" {
		return dumpSequences(p, path, b)
	}
	entries, err := commitlog.DecodeSnapshot(b)
	for _, e := range entries {
		last := commitlog.ProducerBatch{LastSequence: kafka.NoSequence, LastOffset: kafka.NoOffset}
		if n := len(e.Batches); n > 0 {
			last = e.Batches[n-1]
		}
		p.line("producerId", e.ID, "producerEpoch", e.Epoch, "lastSequence", last.LastSequence,
			"lastOffset", last.LastOffset, "offsetDelta", last.OffsetDelta, "timestamp", e.Timestamp,
			"coordinatorEpoch", e.CoordinatorEpoch, "currentTxnFirstOffset", e.TransactionStart)
	}
	return err
}

// dumpSequences prints the sidecar of a producer snapshot: a line that says whether it belongs to
// the snapshot beside it, and then a line for each batch that the snapshot has no place for, and for
// each producer one about the batch that the snapshot has.
func dumpSequences(p *printer, path string, b []byte) error {
	s, err := commitlog.DecodeSequences(b)
	if err != nil {
		return err
	}
	snapshotPath := strings.TrimSuffix(path, ".sequences") + ".snapshot"
	snapshot, err := os.ReadFile(snapshotPath)
	pairs := []any{
		"snapshot", snapshotPath, "snapshotCrc", fmt.Sprintf("%08x", s.Snapshot),
		"belongs", err == nil && s.Of(snapshot),
	}
	if err != nil {
		pairs = append(pairs, "why", err.Error())
	}
	p.line(pairs...)
	for _, of := range s.Producers {
		for _, batch := range of.Older {
			p.line("producerId", of.ID, "producerEpoch", of.Epoch,
				"firstSequence", batch.FirstSequence(), "lastSequence", batch.LastSequence,
				"baseOffset", batch.BaseOffset(), "lastOffset", batch.LastOffset,
				"timestamp", batch.Timestamp)
		}
		p.line("producerId", of.ID, "producerEpoch", of.Epoch, "olderBatches", len(of.Older),
			"lastTimestamp", of.LastTimestamp)
	}
	return nil
}
