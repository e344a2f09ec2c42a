package commitlog

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
)

// unhex reads bytes that are drawn field by field.
func unhex(t *testing.T, fields ...string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Join(fields, ""), " ", ""))
	require.NoError(t, err)
	return b
}

func TestIndexEntryIsRelativeLastOffsetAndPosition(t *testing.T) {
	b := AppendIndexEntry(nil, 100, IndexEntry{Offset: 107, Position: 4200})
	require.Equal(t, unhex(t, "00000007", "00001068"), b)
	entries, err := DecodeIndex(b, 100)
	require.NoError(t, err)
	require.Equal(t, []IndexEntry{{107, 4200}}, entries)
}

func TestTimeEntryIsRunningMaximumAndRelativeOffset(t *testing.T) {
	b := AppendTimeEntry(nil, 100, TimeEntry{Timestamp: 1_700_000_000_000, Offset: 107})
	require.Equal(t, unhex(t, "0000018bcfe56800", "00000007"), b)
	entries, err := DecodeTimeIndex(b, 100)
	require.NoError(t, err)
	require.Equal(t, []TimeEntry{{1_700_000_000_000, 107}}, entries)
}

func TestDecodeIndexToleratesPreallocatedZeros(t *testing.T) {
	b := AppendIndexEntry(nil, 0, IndexEntry{Offset: 3, Position: 5000})
	entries, err := DecodeIndex(append(b, make([]byte, 10_485_760-len(b))...), 0)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	times := AppendTimeEntry(nil, 0, TimeEntry{Timestamp: 9, Offset: 3})
	stamps, err := DecodeTimeIndex(append(times, make([]byte, 10_485_756-len(times))...), 0)
	require.NoError(t, err)
	require.Len(t, stamps, 1)
}

func TestDecodeIndexRefusesDisorder(t *testing.T) {
	b := AppendIndexEntry(nil, 0, IndexEntry{Offset: 8, Position: 5000})
	for _, e := range []IndexEntry{{8, 6000}, {9, 5000}, {7, 6000}} {
		entries, err := DecodeIndex(AppendIndexEntry(b, 0, e), 0)
		require.Error(t, err, e)
		require.Len(t, entries, 1)
	}
	_, err := DecodeIndex(b[:7], 0)
	require.Error(t, err)
	times := AppendTimeEntry(nil, 0, TimeEntry{Timestamp: 9, Offset: 8})
	for _, e := range []TimeEntry{{9, 9}, {10, 7}} {
		_, err := DecodeTimeIndex(AppendTimeEntry(times, 0, e), 0)
		require.Error(t, err, e)
	}
}

func TestSnapshotIsKafkasFormat(t *testing.T) {
	empty := AppendSnapshot(nil, nil)
	require.Len(t, empty, 10, "an empty snapshot has ten bytes")
	none, err := DecodeSnapshot(empty)
	require.NoError(t, err)
	require.Empty(t, none)
	entries := []ProducerEntry{{
		ID: 4000, Epoch: 2, CoordinatorEpoch: -1, TransactionStart: kafka.NoOffset, Timestamp: 77,
		Batches: []ProducerBatch{{LastSequence: 9, LastOffset: 109, OffsetDelta: 4, Timestamp: 77}},
	}}
	body := unhex(t, "00000001", "0000000000000fa0", "0002", "00000009", "000000000000006d",
		"00000004", "000000000000004d", "ffffffff", "ffffffffffffffff")
	b := AppendSnapshot(nil, entries)
	require.Equal(t, unhex(t, "0001"), b[:2])
	require.Equal(t, body, b[6:])
	crc := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	require.Equal(t, binary.BigEndian.AppendUint32(nil, crc), b[2:6])
	decoded, err := DecodeSnapshot(b)
	require.NoError(t, err)
	require.Equal(t, entries, decoded)
}

func TestSnapshotRefusesEveryFlippedByte(t *testing.T) {
	entries := []ProducerEntry{{ID: 1, Batches: []ProducerBatch{{LastSequence: 3}, {LastSequence: 4}}}}
	snapshot := AppendSnapshot(nil, entries)
	sequences := AppendSequences(nil, entries, snapshot)
	for i := range snapshot {
		snapshot[i] ^= 0x10
		_, err := DecodeSnapshot(snapshot)
		require.Error(t, err, "byte %d", i)
		snapshot[i] ^= 0x10
	}
	for i := range sequences {
		decoded, err := DecodeSnapshot(snapshot)
		require.NoError(t, err)
		sequences[i] ^= 0x10
		require.Error(t, JoinSequences(decoded, snapshot, sequences), "byte %d", i)
		sequences[i] ^= 0x10
		require.Len(t, decoded[0].Batches, 1)
	}
}

func TestSequencesJoinOnlyTheirOwnSnapshot(t *testing.T) {
	window := []ProducerBatch{{2, 2, 2, 5}, {3, 3, 0, 9}, {1<<31 - 1, 8, 4, 7}}
	entries := []ProducerEntry{
		{ID: 1, Epoch: 3, TransactionStart: -1, Timestamp: 7, Batches: window},
		{ID: 2, Epoch: 1, TransactionStart: -1, Timestamp: 8},
		{ID: 3, Epoch: 1, TransactionStart: -1, Timestamp: 6, Batches: window[:1]},
	}
	snapshot := AppendSnapshot(nil, entries)
	sequences := AppendSequences(nil, entries, snapshot)
	decoded, err := DecodeSnapshot(snapshot)
	require.NoError(t, err)
	require.Equal(t, kafka.Offset(8), decoded[0].Batches[0].LastOffset)
	decoded[1].Batches = nil // all that is known is a marker: last offset -1
	entries[1].Batches = nil
	require.NoError(t, JoinSequences(decoded, snapshot, sequences))
	require.Equal(t, entries, decoded)

	other := AppendSnapshot(nil, entries[:1])
	decoded, err = DecodeSnapshot(other)
	require.NoError(t, err)
	require.Error(t, JoinSequences(decoded, other, sequences))
}

func TestFirstSequenceWraps(t *testing.T) {
	require.Equal(t, kafka.Sequence(5), ProducerBatch{LastSequence: 9, OffsetDelta: 4}.FirstSequence())
	require.Equal(t, kafka.Sequence(0), ProducerBatch{LastSequence: 4, OffsetDelta: 4}.FirstSequence())
	const last = 1<<31 - 1
	require.Equal(t, kafka.Sequence(last), ProducerBatch{LastSequence: 3, OffsetDelta: 4}.FirstSequence())
	require.Equal(t, kafka.Sequence(last-1), ProducerBatch{LastSequence: 2, OffsetDelta: 4}.FirstSequence())
}

func TestEpochCheckpointIsText(t *testing.T) {
	entries := []EpochEntry{{0, 0}, {5, 12}}
	b := AppendEpochCheckpoint(nil, entries)
	require.Equal(t, "0\n2\n0 0\n5 12\n", string(b))
	decoded, err := DecodeEpochCheckpoint(b)
	require.NoError(t, err)
	require.Equal(t, entries, decoded)
	require.Equal(t, "0\n0\n", string(AppendEpochCheckpoint(nil, nil)))
	for _, bad := range []string{
		"", "0\n", "1\n0\n", "0\n1\n", "0\n1\n3 4", "0\n2\n3 4\n3 5\n",
		"0\n2\n3 4\n4 3\n", "0\n1\n-1 4\n", "0\n1\n1\n", "0\n0\n1 1\n",
	} {
		_, err := DecodeEpochCheckpoint([]byte(bad))
		require.Error(t, err, "%q", bad)
	}
}

func TestOffsetCheckpointIsText(t *testing.T) {
	entries := []CheckpointEntry{
		{kafka.TopicPartition{Topic: "a", Partition: 0}, 17},
		{kafka.TopicPartition{Topic: "b.c", Partition: 11}, 0},
	}
	b := AppendCheckpoint(nil, entries)
	require.Equal(t, "0\n2\na 0 17\nb.c 11 0\n", string(b))
	decoded, err := DecodeCheckpoint(b)
	require.NoError(t, err)
	require.Equal(t, entries, decoded)
	decoded, err = DecodeCheckpoint(nil)
	require.NoError(t, err)
	require.Empty(t, decoded)
	for _, bad := range []string{
		"0\n", "0\n1\na 0\n", "0\n1\na x 0\n",
		"0\n1\na 0 x\n", "0\n9\na 0 1\n",
	} {
		_, err := DecodeCheckpoint([]byte(bad))
		require.Error(t, err, "%q", bad)
	}
}

func TestPartitionMetadataHasNoFinalNewline(t *testing.T) {
	b := AppendPartitionMetadata(nil, testTopicID)
	require.Equal(t, "version: 0\ntopic_id: AQIDAAAAAAAAAAAAAAAAAA", string(b))
	id, err := DecodePartitionMetadata(b)
	require.NoError(t, err)
	require.Equal(t, testTopicID, id)
	for _, bad := range []string{
		"", "version: 1\ntopic_id: AQIDAAAAAAAAAAAAAAAAAA",
		"version: 0\n", "version: 0\ntopic_id: A",
	} {
		_, err := DecodePartitionMetadata([]byte(bad))
		require.Error(t, err, "%q", bad)
	}
}

func TestMetaPropertiesReadsKafkasFile(t *testing.T) {
	text := "#\n#Mon Nov 30 04:22:28 UTC 2026\ncluster.id=5L6g3nShT-eMCtK--X86sw\n" +
		"directory.id=q1sOCJXbE1ZDoFLwGCYgAw\nnode.id=1\nversion=1\n"
	m, err := DecodeMetaProperties([]byte(text))
	require.NoError(t, err)
	want := MetaProperties{"5L6g3nShT-eMCtK--X86sw", 1, "q1sOCJXbE1ZDoFLwGCYgAw"}
	require.Equal(t, want, m)
	m, err = DecodeMetaProperties(AppendMetaProperties(nil, want))
	require.NoError(t, err)
	require.Equal(t, want, m)
	for _, bad := range []string{
		"", "version=1\n", "version=0\nnode.id=1\n",
		"version=1\nnode.id=x\n",
	} {
		_, err := DecodeMetaProperties([]byte(bad))
		require.Error(t, err, "%q", bad)
	}
}

func TestCleanMarkers(t *testing.T) {
	require.Equal(t, `{"version":0,"brokerEpoch":12}`, string(AppendKafkaClean(nil, 12)))

	marker := &Life{
		BootID: "boot", Incarnation: [16]byte{7}, DirectoryID: "q1sOCJXbE1ZDoFLw",
		Before: [][16]byte{{5}, {6}},
	}
	b := AppendLife(nil, marker)
	decoded, err := DecodeLife(b)
	require.NoError(t, err)
	require.Equal(t, marker, decoded)
	for i := range b {
		_, err := DecodeLife(b[:i])
		require.Error(t, err, "cut at %d", i)
	}
}

// FuzzDecoders feeds the decoders of files that others may have written.
func FuzzDecoders(f *testing.F) {
	entries := []ProducerEntry{{ID: 1, Batches: []ProducerBatch{{LastSequence: 3}, {LastSequence: 4}}}}
	snapshot := AppendSnapshot(nil, entries)
	f.Add(snapshot)
	f.Add(AppendSequences(nil, entries, snapshot))
	f.Add(AppendEpochCheckpoint(nil, []EpochEntry{{1, 2}}))
	f.Add(AppendPartitionMetadata(nil, testTopicID))
	f.Add(AppendIndexEntry(nil, 0, IndexEntry{3, 4}))
	f.Fuzz(func(t *testing.T, b []byte) {
		DecodeIndex(b, 5)
		DecodeTimeIndex(b, 5)
		DecodeCheckpoint(b)
		DecodeEpochCheckpoint(b)
		DecodePartitionMetadata(b)
		DecodeMetaProperties(b)
		DecodeLife(b)
		if decoded, err := DecodeSnapshot(b); err == nil {
			DecodeSnapshot(AppendSnapshot(nil, decoded))
			JoinSequences(decoded, b, b)
		}
		// With a valid checksum in front, the fields behind it are reached.
		sealed := appendSealed(nil, 1, b)
		if decoded, err := DecodeSnapshot(sealed); err == nil && !sameSnapshot(decoded, sealed) {
			t.Fatal("a snapshot does not survive encoding")
		}
		JoinSequences([]ProducerEntry{{ID: 1, Batches: []ProducerBatch{{}}}}, nil, sealed)
		DecodeLife(appendSealed(nil, lifeVersion, b))
	})
}

func sameSnapshot(entries []ProducerEntry, b []byte) bool {
	for _, e := range entries {
		if len(e.Batches) == 0 {
			return true // the batch fields of an entry without a batch are not kept
		}
	}
	return string(AppendSnapshot(nil, entries)) == string(b)
}
