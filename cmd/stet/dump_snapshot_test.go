package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
)

func TestDumpPrintsTheSidecarOfASnapshot(t *testing.T) {
	entries := []commitlog.ProducerEntry{{
		ID: 9, Epoch: 2, TransactionStart: -1, Timestamp: 70,
		Batches: []commitlog.ProducerBatch{{
			LastSequence: 4, LastOffset: 14, OffsetDelta: 4, Timestamp: 60,
		}, {LastSequence: 5, LastOffset: 15, Timestamp: 70}},
	}}
	snapshot := commitlog.AppendSnapshot(nil, entries)
	stem := filepath.Join(t.TempDir(), "00000000000000000016")
	sequences := commitlog.AppendSequences(nil, entries, snapshot)
	require.NoError(t, os.WriteFile(stem+".sequences", sequences, 0o600))
	require.Contains(t, dumped(t, dumpSnapshot, stem+".sequences"), "belongs=false why=", "no snapshot")

	require.NoError(t, os.WriteFile(stem+".snapshot", snapshot, 0o600))
	s, err := commitlog.DecodeSequences(sequences)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("snapshot=%s.snapshot snapshotCrc=%08x belongs=true\n", stem, s.Snapshot)+
		"producerId=9 producerEpoch=2 firstSequence=0 lastSequence=4 baseOffset=10 lastOffset=14 timestamp=60\n"+
		"producerId=9 producerEpoch=2 olderBatches=1 lastTimestamp=70\n",
		dumped(t, dumpSnapshot, stem+".sequences"))
	require.Equal(t, 0, run([]string{"dump", "snapshot", stem + ".snapshot", stem + ".sequences"}))

	require.NoError(t, os.WriteFile(stem+".snapshot", snapshot[:9], 0o600))
	require.Contains(t, dumped(t, dumpSnapshot, stem+".sequences"), "belongs=false\n")
}
