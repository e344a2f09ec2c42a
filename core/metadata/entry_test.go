package metadata

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

func TestEveryEntryReadsBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := rapid.SliceOfN(anyRecord(), 0, 4).Draw(rt, "records")
		before := []byte("before")
		entry := AppendEntry(before, records...)
		require.Equal(rt, "before", string(entry[:6]))
		got, err := DecodeEntry(entry[6:])
		require.NoError(rt, err)
		require.Equal(rt, len(records), len(got))
		for i := range got {
			require.Equal(rt, records[i], got[i])
		}
	})
}

func TestEntryThatIsCutOffIsRefused(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := anyRecord().Draw(rt, "record")
		entry := AppendEntry(nil, r)
		n := rapid.IntRange(2, len(entry)-1).Draw(rt, "length")
		_, err := DecodeEntry(entry[:n])
		require.Error(rt, err)
	})
}

func TestEntryWithoutBytesHasNoRecords(t *testing.T) {
	for _, entry := range [][]byte{nil, {}, AppendEntry(nil)} {
		records, err := DecodeEntry(entry)
		require.NoError(t, err)
		require.Empty(t, records)
	}
}

// TestBytesOfRecordsStayTheSame pins the format: logs and snapshots of every former version must
// remain readable, so a change here is a new version of the record, never an edit of this test.
func TestBytesOfRecordsStayTheSame(t *testing.T) {
	id := kafka.TopicID{0: 0xaa, 15: 0xbb}
	zeros := "0000000000000000000000000000"
	hexID := "aa" + zeros + "bb"
	for want, r := range map[string]Record{
		"0101" + "026162" + "02":      &ClusterRecord{"ab", Features{1}},
		"0203" + "06" + "0f" + "0100": &BrokerStateRecord{3, -8, true, false},
		"010e" + "06" + "0f":          &BrokerRemovalRecord{3, -8},
		"010c" + "ac02" + "06" + hexID + "01" + "0143" + "0168" + "8547" + "00" + "01" + "0166" + "0002": &VoterRecord{
			Voter{300, 3, DirectoryID(id), []Endpoint{{"C", "h", 9093, 0}}, []FeatureRange{{"f", 0, 1}}},
		},
		"010d" + "ac02": &VoterRemovalRecord{300},
		"010b" + hexID + "01" + "04" + "01" + "0102" + "0104" + "02" + "01" + "01": &PartitionChangesRecord{
			id, []PartitionUpdate{{2, true, Standing{[]kafka.BrokerID{1}, []kafka.BrokerID{2}, 1, -1, true}}},
		},
		"0105" + hexID + "0174" + "01" + "016b" + "0176": &TopicRecord{
			id, "t", []ConfigEntry{{"k", "v"}}, 0,
		},
		"0205" + hexID + "0174" + "00" + "ac02": &TopicRecord{id, "t", nil, 150},
		"0206" + hexID + "02" + "020204" + "01" + hexID + "0102" + "00" + "02" + "01" + "00" + "0a0c": &PartitionRecord{
			id, 1, Partition{
				Replicas: []kafka.BrokerID{1, 2}, Directories: []DirectoryID{DirectoryID(id)},
				LeaderEpoch: 5, Epoch: 6,
				Standing: Standing{ISR: []kafka.BrokerID{1}, Leader: 1, LastKnownLeader: -1},
			},
		},
		"0107" + hexID: &TopicRemovalRecord{id},
		"0108" + "04" + "0131" + "016e" + "00" + "0176": &ConfigRecord{
			Resource: Resource{ResourceBroker, "1"}, Name: "n", Value: "v",
		},
		"0109" + "d00f" + "02" + "0e": &ProducerIDsRecord{1000, 1, 7},
		"010a" + "ac02":               &positionRecord{150},
		"0202" + "02" + "01" + hexID + "01" + hexID + "01" + "0150" + "0168" + "8447" + "00" +
			"0172" + "01" + "0166" + "00" + "02" + "01" + "12": &BrokerRecord{Broker{
			ID: 1, Epoch: -1, Incarnation: IncarnationID(id),
			Directories: []DirectoryID{DirectoryID(id)}, Endpoints: []Endpoint{{"P", "h", 9092, 0}},
			Rack: "r", Features: []FeatureRange{{"f", 0, 1}}, Fenced: true, StoppingFrom: 9,
		}},
	} {
		require.Equal(t, want, hex.EncodeToString(appendRecord(nil, r)), "%T", r)
	}
}

func TestReaderRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, entry := range map[string][]byte{
		"a version of entries":      {2},
		"a version of records":      {1, 3, 2, byte(kindVoterRemoval), 2},
		"a retired kind":            {1, 3, 1, 4, 2},
		"a kind":                    {1, 3, 1, 99, 2},
		"no kind":                   {1, 1, 1},
		"bytes behind a field":      {1, 4, 1, byte(kindVoterRemoval), 2, 0},
		"a long form of an integer": {1, 4, 1, byte(kindVoterRemoval), 0x82, 0},
		"an integer too large":      {1, 8, 1, byte(kindBrokerRemoval), 0xff, 0xff, 0xff, 0xff, 0x10, 2},
		"a boolean of two":          {1, 6, 2, byte(kindBrokerState), 2, 2, 2, 0},
		"a list longer than it is":  {1, 4, 2, byte(kindBroker), 0xff, 0x7f},
		"a date of nothing":         append(append([]byte{1, 21, 2, byte(kindTopic)}, make([]byte, 16)...), 0, 0, 0),
		"an empty record":           {1, 0},
	} {
		_, err := DecodeEntry(entry)
		require.Error(t, err, name)
	}
}

// seal puts the right checksum behind the body of a snapshot.
func seal(body []byte) []byte {
	crc := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.AppendUint32(append([]byte(nil), body...), crc)
}

func TestSnapshotHasOnePosition(t *testing.T) {
	_, err := DecodeSnapshot(seal([]byte{snapshotVersion}))
	require.ErrorContains(t, err, "without a position")
	good := clusterOf(t, 3).AppendSnapshot(nil)
	body := good[: len(good)-4 : len(good)-4]
	_, err = DecodeSnapshot(seal(appendSized(body, &positionRecord{9})))
	require.ErrorContains(t, err, "position inside")
	for i := range good {
		_, err = DecodeSnapshot(good[:i])
		require.Error(t, err, "first %d bytes", i)
	}
}

// clusterOf makes a cluster with brokers 1 to n, unfenced, each with one directory.
func clusterOf(t require.TestingT, n int) *Image {
	records := []Record{&ClusterRecord{"cluster", Features{CurrentLevel}}}
	for i := range n {
		id := kafka.BrokerID(i + 1)
		records = append(records, &BrokerRecord{Broker{
			ID: id, Epoch: brokerEpochFromIndex, Incarnation: IncarnationID{byte(id)},
			Directories: []DirectoryID{{9, byte(id)}}, Endpoints: []Endpoint{{"PLAINTEXT", "h", 9092, 0}},
			Features: BuildLevels().Features(),
		}})
	}
	image, err := Empty().Apply(1, records...)
	require.NoError(t, err)
	return image
}
