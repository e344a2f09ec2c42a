package metadata

import (
	"testing"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
)

// oneOfEach has a record of every kind that the log may hold.
func oneOfEach() []Record {
	return []Record{
		&ClusterRecord{"cluster", Features{1}},
		&BrokerRecord{Broker{
			ID: 3, Epoch: -1, Incarnation: IncarnationID{1, 2}, Directories: []DirectoryID{{1}, {2}},
			Endpoints: []Endpoint{{"PLAINTEXT", "host", 65535, 0}, {"SSL", "other", 1, 1}}, Rack: "r",
			Features: []FeatureRange{{"metadata.version", 1, 33}}, Fenced: true, StoppingFrom: 9,
		}},
		&BrokerStateRecord{3, 17, true, true},
		&VoterRecord{Voter{
			1 << 62, 3,
			DirectoryID{5},
			[]Endpoint{{"CONTROLLER", "host", 9093, 0}},
			[]FeatureRange{{FeatureName, 1, 2}},
		}},
		&VoterRecord{Voter{ID: 1<<64 - 1}},
		&TopicRecord{kafka.TopicID{7}, "name", []ConfigEntry{{"a", "1"}, {"b", ""}}, 0},
		&TopicRecord{kafka.TopicID{8}, "dated", nil, 1 << 41},
		&PartitionRecord{kafka.TopicID{7}, 0, Partition{
			Replicas: []kafka.BrokerID{3, 1 << 30}, Directories: []DirectoryID{{1}, {}},
			LeaderEpoch: 5, Epoch: 9,
			Standing: Standing{[]kafka.BrokerID{3}, []kafka.BrokerID{4}, -1, 8, true},
		}},
		&PartitionChangesRecord{kafka.TopicID{7}, []PartitionUpdate{
			{0, true, Standing{ISR: []kafka.BrokerID{3}, Leader: 3, LastKnownLeader: -1}},
			{1, false, Standing{ELR: []kafka.BrokerID{3}, Leader: -1, LastKnownLeader: 3}},
		}},
		&ConfigRecord{Resource{ResourceTopic, "name"}, "c", "2", false},
		&ConfigRecord{Resource{ResourceBroker, ""}, "d", "", true},
		&ProducerIDsRecord{5000, 3, 17},
		&TopicRemovalRecord{kafka.TopicID{7}},
		&VoterRemovalRecord{1 << 62},
		&BrokerRemovalRecord{3, 17},
	}
}

func TestEveryRecordSurvivesItsBytes(t *testing.T) {
	entry := AppendEntry(nil, oneOfEach()...)
	records, err := DecodeEntry(entry)
	require.NoError(t, err)
	require.Equal(t, oneOfEach(), records)
	long := &TopicRecord{kafka.TopicID{1}, string(make([]byte, 20_000)), nil, 0}
	records, err = DecodeEntry(AppendEntry(nil, long, long))
	require.NoError(t, err)
	require.Equal(t, []Record{long, long}, records)
}

func TestTruncatedAndForeignRecordsAreRefused(t *testing.T) {
	for _, r := range oneOfEach() {
		b := appendRecord(nil, r)
		for n := range b {
			_, err := decodeRecord(b[:n], &lists{}, BuildLevels())
			require.Error(t, err, "%T cut to %d bytes", r, n)
		}
		_, err := decodeRecord(append(b[:len(b):len(b)], 0), &lists{}, BuildLevels())
		require.Error(t, err, "%T with a byte too many", r)
		b[0] += 2 // the topic's has two
		_, err = decodeRecord(b, &lists{}, BuildLevels())
		require.ErrorContains(t, err, "version")
		b[0], b[1] = 1, 200
		_, err = decodeRecord(b, &lists{}, BuildLevels())
		require.ErrorContains(t, err, "unknown kind")
	}
	_, err := DecodeEntry([]byte{9})
	require.ErrorContains(t, err, "version 9")
}

func TestDamagedSnapshotIsRefused(t *testing.T) {
	image, _ := bigImage(3, 2, 3)
	b := image.AppendSnapshot(nil)
	for i := range b {
		b[i] ^= 1
		_, err := DecodeSnapshot(b)
		require.Error(t, err)
		b[i] ^= 1
	}
}

// FuzzDecodeEntry: what decodes has exactly one form, and decoding never takes much memory.
func FuzzDecodeEntry(f *testing.F) {
	f.Add(AppendEntry(nil, oneOfEach()...))
	for _, r := range oneOfEach() {
		f.Add(AppendEntry(nil, r))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		records, err := DecodeEntry(b)
		if err != nil || len(b) == 0 {
			return
		}
		again := AppendEntry(nil, records...)
		back, err := DecodeEntry(again)
		require.NoError(t, err)
		require.Equal(t, records, back)
		_, _ = Empty().Apply(1, records...)
	})
}

func FuzzDecodeSnapshot(f *testing.F) {
	image, _ := bigImage(3, 2, 3)
	f.Add(image.AppendSnapshot(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= 5 {
			_, _ = decodeSnapshotBody(b[1:len(b)-4], BuildLevels())
		}
	})
}
