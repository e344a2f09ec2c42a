package metadata

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

func registrationOf(id kafka.BrokerID, incarnation byte) *Registration {
	return &Registration{ClusterID: "cluster", Broker: Broker{
		ID: id, Incarnation: IncarnationID{incarnation}, Directories: []DirectoryID{{2}, {1}},
		Endpoints: []Endpoint{{"PLAINTEXT", "h", 9092, 0}}, Features: BuildLevels().Features(),
	}}
}

// decide applies a decision as the next entry.
func decide(t require.TestingT, image *Image, records []Record) *Image {
	next, err := image.ApplyEntry(image.Index()+1, AppendEntry(nil, records...))
	require.NoError(t, err)
	return next
}

func TestRegistrationsThatAreRefused(t *testing.T) {
	image := clusterOf(t, 1)
	for name, c := range map[string]struct {
		change func(*Registration)
		want   kafka.ErrorCode
	}{
		"another cluster":   {func(r *Registration) { r.ClusterID = "other" }, kafka.InconsistentClusterID},
		"a negative id":     {func(r *Registration) { r.Broker.ID = -1 }, kafka.InvalidRegistration},
		"without addresses": {func(r *Registration) { r.Broker.Endpoints = nil }, kafka.InvalidRegistration},
	} {
		asked := registrationOf(7, 1)
		c.change(asked)
		records, epoch, code := RegisterBroker(image, asked, false)
		require.Equal(t, c.want, code, name)
		require.Empty(t, records, name)
		require.Equal(t, kafka.BrokerEpoch(-1), epoch, name)
	}
	asked := registrationOf(7, 1)
	asked.ClusterID = "" // knows none yet
	_, _, code := RegisterBroker(image, asked, false)
	require.Equal(t, kafka.None, code)
}

func TestNoProducerIDIsGivenTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		image, next := clusterOf(rt, 2), kafka.ProducerID(0)
		for range rapid.IntRange(0, 20).Draw(rt, "requests") {
			broker := kafka.BrokerID(rapid.IntRange(1, 3).Draw(rt, "broker"))
			epoch := kafka.BrokerEpoch(rapid.IntRange(1, 2).Draw(rt, "epoch"))
			records, block, code := AllocateProducerIDs(image, broker, epoch)
			if broker == 3 || epoch == 2 {
				require.NotEqual(rt, kafka.None, code)
				require.Empty(rt, records)
				continue
			}
			require.Equal(rt, ProducerIDBlock{next, ProducerIDBlockSize}, block)
			next += ProducerIDBlockSize
			image = decide(rt, image, records)
		}
	})
}

func TestProducerIDsDoNotOverflow(t *testing.T) {
	image := decide(t, clusterOf(t, 1), []Record{&ProducerIDsRecord{math.MaxInt64 - 999, 1, 1}})
	records, _, code := AllocateProducerIDs(image, 1, 1)
	require.Equal(t, kafka.UnknownServerError, code)
	require.Empty(t, records)
}

func TestRefusedTopicDoesNotCountAgainstTheBoundOfARequest(t *testing.T) {
	image := clusterOf(t, 1)
	_, outcomes := create(t, image, NewTopic{"a", 9_000, 3, nil, nil}, NewTopic{"b", 9_000, 1, nil, nil})
	require.Equal(t, kafka.InvalidReplicationFactor, outcomes[0].Error)
	require.Equal(t, kafka.None, outcomes[1].Error, outcomes[1].Message)
	_, outcomes = create(t, image, NewTopic{"a", 9_000, 1, nil, nil}, NewTopic{"b", 1_001, 1, nil, nil})
	require.Equal(t, kafka.PolicyViolation, outcomes[1].Error)
}

func TestClusterWithoutAnIDIsRefused(t *testing.T) {
	// A snapshot would forget its features.
	_, err := Empty().Apply(1, &ClusterRecord{"", Features{CurrentLevel}})
	require.Error(t, err)
}
