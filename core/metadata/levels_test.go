package metadata

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
)

// old is the range of software that knows the first level alone.
var old = Levels{LevelFirst, LevelFirst}

// imageAt is a cluster of one broker with a level in force.
func imageAt(t *testing.T, level int16) *Image {
	t.Helper()
	image, err := Empty().Apply(1, &ClusterRecord{"c", Features{level}},
		&BrokerRecord{Broker{ID: 1, Epoch: -1, Directories: []DirectoryID{{1}}, Features: BuildLevels().Features()}},
		&BrokerStateRecord{ID: 1, Epoch: 1})
	require.NoError(t, err)
	return image
}

// entryOf is the entry that creates a topic at a level.
func entryOf(t *testing.T, image *Image) []byte {
	t.Helper()
	records, outcomes := CreateTopics(image, []NewTopic{{Name: "t", Partitions: 1, ReplicationFactor: 1}},
		TopicDefaults{NowMs: 1234}, rand.New(rand.NewPCG(1, 5)))
	require.Equal(t, kafka.None, outcomes[0].Error)
	return AppendEntry(nil, records...)
}

func TestTopicsTellWhenTheyWereCreatedFromLevelTwoOn(t *testing.T) {
	for level, created := range map[int16]int64{LevelFirst: 0, LevelTopicsDated: 1234} {
		image := imageAt(t, level)
		after, err := image.ApplyEntry(2, entryOf(t, image))
		require.NoError(t, err)
		require.Equal(t, created, after.Topic("t").Created)
		again, err := DecodeSnapshot(after.AppendSnapshot(nil))
		require.NoError(t, err)
		require.Equal(t, created, again.Topic("t").Created)
	}
}

func TestOldSoftwareReadsTheFirstLevelAndRefusesTheNext(t *testing.T) {
	first, second := imageAt(t, LevelFirst), imageAt(t, LevelTopicsDated)
	after, err := old.ApplyEntry(first, 2, entryOf(t, first))
	require.NoError(t, err)
	_, err = old.DecodeSnapshot(after.AppendSnapshot(nil))
	require.NoError(t, err)

	_, err = old.ApplyEntry(first, 2, entryOf(t, second))
	require.ErrorContains(t, err, "feature level 2 brought; this software supports 1 to 1")
	_, err = old.ApplyEntry(first, 2, AppendEntry(nil, &ClusterRecord{"c", Features{2}}))
	require.ErrorContains(t, err, "feature level 2 is in force")
	_, err = old.DecodeSnapshot(second.AppendSnapshot(nil))
	require.ErrorContains(t, err, "feature level 2 is in force")
	_, err = Levels{2, 2}.DecodeSnapshot(first.AppendSnapshot(nil))
	require.ErrorContains(t, err, "this software supports 2 to 2")
}

func TestAClusterStartsWithWhatAllItsVotersSupport(t *testing.T) {
	voter := func(features []FeatureRange) Record { return &VoterRecord{Voter{Features: features}} }
	for name, c := range map[string]struct {
		voters []Record
		want   int16
	}{
		"alone":      {nil, CurrentLevel},
		"all new":    {[]Record{voter(BuildLevels().Features())}, CurrentLevel},
		"one is old": {[]Record{voter(BuildLevels().Features()), voter(old.Features())}, LevelFirst},
		"not known":  {[]Record{voter(nil)}, LevelFirst},
	} {
		require.Equal(t, c.want, FoundingLevel(BuildLevels(), c.voters), name)
	}
}

func TestALevelIsRefusedForAFencedBrokerToo(t *testing.T) {
	image, err := imageAt(t, LevelFirst).Apply(2,
		&BrokerRecord{Broker{ID: 2, Epoch: -1, Fenced: true, Features: old.Features()}})
	require.NoError(t, err)
	records, _, code, message := UpdateFeatures(image, BuildLevels().Advertised(),
		[]FeatureUpdate{{FeatureName, LevelTopicsDated, Upgrade}})
	require.Empty(t, records)
	require.Equal(t, kafka.InvalidUpdateVersion, code)
	require.Contains(t, message, "broker 2: upgrade its software first")
}

func TestPartitionsWithAReassignmentAreReadFromItsLevelOn(t *testing.T) {
	entry := func(r *Reassignment) []byte {
		p := *partitionOf(1, kafka.NoBroker, ids(1), nil)
		p.Reassignment = r
		return AppendEntry(nil, &TopicRecord{ID: idNumber(1), Name: "t"}, &PartitionRecord{idNumber(1), 0, p})
	}
	underWay := &Reassignment{Adding: ids(2), Removing: ids(3)}
	_, err := old.ApplyEntry(imageAt(t, LevelFirst), 2, entry(nil))
	require.NoError(t, err)
	_, err = old.ApplyEntry(imageAt(t, LevelFirst), 2, entry(underWay))
	require.ErrorContains(t, err, "kind 6 of version 3, which feature level 2 brought")
	image, err := imageAt(t, LevelReassignments).ApplyEntry(2, entry(underWay))
	require.NoError(t, err)
	image, err = DecodeSnapshot(image.AppendSnapshot(nil))
	require.NoError(t, err)
	require.Equal(t, underWay, image.Topic("t").Partition(0).Reassignment)
	_, err = DecodeEntry(entry(&Reassignment{}))
	require.ErrorContains(t, err, "malformed", "it has another form without")
}
