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
		Endpoints: []Endpoint{{"PLAINTEXT", "h", 9092, 0}},
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
		records, epoch, code := RegisterBroker(image, asked)
		require.Equal(t, c.want, code, name)
		require.Empty(t, records, name)
		require.Equal(t, kafka.BrokerEpoch(-1), epoch, name)
	}
	asked := registrationOf(7, 1)
	asked.ClusterID = "" // knows none yet
	_, _, code := RegisterBroker(image, asked)
	require.Equal(t, kafka.None, code)
}

func TestNewLifeOfABrokerIsFencedAndBumpsWhatItLeads(t *testing.T) {
	image := clusterOf(t, 2)
	records := []Record{&TopicRecord{ID: idNumber(1), Name: "t"}}
	for i := range 130 { // more than two chunks
		leader := kafka.BrokerID(1 + i%2)
		records = append(records, &PartitionRecord{idNumber(1), kafka.PartitionID(i), Partition{
			Replicas: []kafka.BrokerID{leader}, ISR: []kafka.BrokerID{leader}, Leader: leader,
		}})
	}
	image = decide(t, image, records)
	records, epoch, code := RegisterBroker(image, registrationOf(1, 99))
	require.Equal(t, kafka.None, code)
	require.Equal(t, kafka.BrokerEpoch(-1), epoch)
	after := decide(t, image, records)
	b := after.Broker(1)
	require.Equal(t, kafka.BrokerEpoch(after.Index()), b.Epoch)
	require.True(t, b.Fenced)
	require.Equal(t, []DirectoryID{{1}, {2}}, b.Directories)
	for i := range 130 {
		p := after.Topic("t").Partition(kafka.PartitionID(i))
		bumped := int32(1 - i%2)
		require.Equal(t, kafka.LeaderEpoch(bumped), p.LeaderEpoch)
		require.Equal(t, kafka.PartitionEpoch(bumped), p.Epoch)
	}
	again, kept, code := RegisterBroker(after, registrationOf(1, 99))
	require.Equal(t, kafka.None, code)
	require.Empty(t, again, "the same incarnation changes nothing")
	require.Equal(t, b.Epoch, kept)
}

func TestHeartbeatUnfencesOnceTheBrokerHasSeenItself(t *testing.T) {
	records, _, _ := RegisterBroker(clusterOf(t, 1), registrationOf(7, 1))
	image := decide(t, clusterOf(t, 1), records)
	epoch := image.Broker(7).Epoch
	beat := func(b Beat) ([]Record, kafka.ErrorCode) {
		b.Broker = 7
		return Heartbeat(image, &b)
	}
	for name, b := range map[string]Beat{
		"behind":          {Epoch: epoch, Index: Index(epoch) - 1},
		"wants its fence": {Epoch: epoch, Index: Index(epoch), WantFence: true},
	} {
		records, code := beat(b)
		require.Equal(t, kafka.None, code, name)
		require.Empty(t, records, name)
	}
	_, code := beat(Beat{Epoch: epoch - 1, Index: Index(epoch)})
	require.Equal(t, kafka.StaleBrokerEpoch, code)
	_, code = Heartbeat(image, &Beat{Broker: 8, Epoch: epoch})
	require.Equal(t, kafka.BrokerIDNotRegistered, code)

	records, code = beat(Beat{Epoch: epoch, Index: Index(epoch)})
	require.Equal(t, kafka.None, code)
	image = decide(t, image, records)
	require.False(t, image.Broker(7).Fenced)
	records, code = beat(Beat{Epoch: epoch, Index: image.Index()})
	require.Equal(t, kafka.None, code)
	require.Empty(t, records, "an unfenced broker's heartbeat costs no entry")
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
