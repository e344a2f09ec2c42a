package wire

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"stet/core/env"
	"stet/core/kafka"
)

// wide are limits that random small messages with many tags do not meet.
func wide() Limits {
	limits := DefaultLimits()
	limits.MemorySlack = 1 << 30
	return limits
}

// everyVersion runs a check for every key and version of both listeners.
func everyVersion(t *testing.T, check func(t *rapid.T, l Listener, key, version int16)) {
	for _, l := range []Listener{BrokerListener, ControllerListener} {
		for _, v := range Versions(l) {
			for version := v.Min; version <= v.Max; version++ {
				t.Run(fmt.Sprintf("%s/%d", v.Name, version), rapid.MakeCheck(func(t *rapid.T) {
					check(t, l, v.Key, version)
				}))
			}
		}
	}
}

func TestEveryRequestIsDecodedAsKmsgWroteIt(t *testing.T) {
	everyVersion(t, func(t *rapid.T, l Listener, key, version int16) {
		sent := drawRequest(t, key, version)
		clientID := rapid.StringN(0, 5, 50).Draw(t, "client id")
		frame := AppendRequest(nil, 77, clientID, sent)
		var got env.Request
		require.NoError(t, NewDecoder(l, wide()).Decode(frame, &got))
		require.Equal(t, key, got.Key)
		require.Equal(t, version, got.Version)
		require.Equal(t, int32(77), got.Correlation)
		require.Equal(t, clientID, got.ClientID)

		// What kmsg reads has the defaults that the version lacks.
		reread := newRequest(key)
		reread.SetVersion(version)
		require.NoError(t, reread.ReadFrom(sent.AppendTo(nil)))
		switch body := got.Body.(type) {
		case *ProduceRequest:
			requireProduce(t, reread.(*kmsg.ProduceRequest), body)
		case *FetchRequest:
			requireFetch(t, reread.(*kmsg.FetchRequest), body)
		default:
			require.Equal(t, reread, body)
			require.Equal(t, sent.AppendTo(nil), body.(kmsg.Request).AppendTo(nil))
		}
	})
}

func requireText(t require.TestingT, want *string, got []byte) {
	if want == nil {
		require.Nil(t, got)
		return
	}
	require.NotNil(t, got)
	require.Equal(t, *want, string(got))
}

func requireProduce(t require.TestingT, want *kmsg.ProduceRequest, got *ProduceRequest) {
	requireText(t, want.TransactionID, got.TransactionalID)
	require.Equal(t, want.Acks, got.Acks)
	require.Equal(t, want.TimeoutMillis, got.TimeoutMs)
	require.Len(t, got.Topics, len(want.Topics))
	for i, topic := range got.Topics {
		require.Equal(t, want.Topics[i].Topic, string(topic.Name))
		require.Equal(t, kafka.TopicID(want.Topics[i].TopicID), topic.ID)
		require.Len(t, topic.Partitions, len(want.Topics[i].Partitions))
		for j, p := range topic.Partitions {
			require.EqualValues(t, want.Topics[i].Partitions[j].Partition, p.Index)
			require.Equal(t, string(want.Topics[i].Partitions[j].Records), string(p.Records))
			require.NotZero(t, p.Facts.Problem)
		}
	}
}

func requireFetch(t require.TestingT, want *kmsg.FetchRequest, got *FetchRequest) {
	replica, epoch := want.ReplicaID, int64(-1)
	if want.Version >= 15 {
		replica, epoch = want.ReplicaState.ID, want.ReplicaState.Epoch
	}
	requireText(t, want.ClusterID, got.ClusterID)
	require.EqualValues(t, replica, got.ReplicaID)
	require.EqualValues(t, epoch, got.ReplicaEpoch)
	require.Equal(t, want.MaxWaitMillis, got.MaxWaitMs)
	require.Equal(t, want.MinBytes, got.MinBytes)
	require.Equal(t, want.MaxBytes, got.MaxBytes)
	require.Equal(t, want.IsolationLevel, got.IsolationLevel)
	require.Equal(t, want.SessionID, got.SessionID)
	require.Equal(t, want.SessionEpoch, got.SessionEpoch)
	require.Equal(t, want.Rack, string(got.RackID))
	require.Len(t, got.Topics, len(want.Topics))
	for i, topic := range got.Topics {
		require.Equal(t, want.Topics[i].Topic, string(topic.Name))
		require.Equal(t, kafka.TopicID(want.Topics[i].TopicID), topic.ID)
		require.Len(t, topic.Partitions, len(want.Topics[i].Partitions))
		for j, p := range topic.Partitions {
			w := want.Topics[i].Partitions[j]
			if want.Version < 18 { // kmsg reads and writes tags in versions that lack them
				w.HighWatermark = int64(HighWatermarkUnsupported)
			}
			if want.Version < 17 {
				w.ReplicaDirectoryID = [16]byte{}
			}
			require.Equal(t, FetchPartition{
				Index: kafka.PartitionID(w.Partition), FetchOffset: kafka.Offset(w.FetchOffset),
				CurrentLeaderEpoch: kafka.LeaderEpoch(w.CurrentLeaderEpoch),
				LastFetchedEpoch:   kafka.LeaderEpoch(w.LastFetchedEpoch),
				LogStartOffset:     kafka.Offset(w.LogStartOffset), MaxBytes: w.PartitionMaxBytes,
				DirectoryID: w.ReplicaDirectoryID, HighWatermark: kafka.Offset(w.HighWatermark),
			}, p)
		}
	}
	require.Len(t, got.Forgotten, len(want.ForgottenTopics))
	for i, topic := range got.Forgotten {
		require.Equal(t, want.ForgottenTopics[i].Topic, string(topic.Name))
		require.Equal(t, kafka.TopicID(want.ForgottenTopics[i].TopicID), topic.ID)
		require.Len(t, topic.Partitions, len(want.ForgottenTopics[i].Partitions))
		for j, p := range topic.Partitions {
			require.EqualValues(t, want.ForgottenTopics[i].Partitions[j], p)
		}
	}
}

func TestEveryResponseSurvivesTheRoundTrip(t *testing.T) {
	everyVersion(t, func(t *rapid.T, _ Listener, key, version int16) {
		sent := drawResponse(t, key, version)
		if r, ok := sent.(*kmsg.ApiVersionsResponse); ok && r.ErrorCode == 35 {
			r.ErrorCode = 0
		}
		frame := AppendResponse(nil, version, 78, 900, sent)
		correlation, ok := ResponseCorrelation(frame)
		require.True(t, ok)
		require.Equal(t, int32(78), correlation)
		got, err := DecodeResponse(key, version, frame)
		require.NoError(t, err)
		require.Equal(t, sent.AppendTo(nil), got.AppendTo(nil))
		if throttled, ok := got.(kmsg.ThrottleResponse); ok {
			millis, _ := throttled.Throttle()
			require.Contains(t, []int32{0, 900}, millis)
		}
	})
}

func TestARecycledBodyKeepsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		used := NewDecoder(BrokerListener, wide())
		for range rapid.IntRange(2, 5).Draw(t, "requests") {
			key := rapid.SampledFrom([]int16{KeyProduce, KeyFetch}).Draw(t, "key")
			v, _ := Lookup(BrokerListener, key)
			version := rapid.Int16Range(v.Min, v.Max).Draw(t, "version")
			frame := AppendRequest(nil, 1, "c", drawRequest(t, key, version))
			if rapid.Bool().Draw(t, "cut") {
				frame = frame[:rapid.IntRange(0, len(frame)).Draw(t, "at")]
			}
			var got, want env.Request
			gotErr := used.Decode(frame, &got)
			wantErr := NewDecoder(BrokerListener, wide()).Decode(frame, &want)
			require.Equal(t, wantErr, gotErr)
			require.Equal(t, fmt.Sprintf("%+v", exported(want.Body)),
				fmt.Sprintf("%+v", exported(got.Body)))
			used.Recycle(got.Body)
		}
	})
}

// exported returns what users of a body see.
func exported(body any) any {
	switch q := body.(type) {
	case *ProduceRequest:
		c := *q
		c.partitions = nil
		return c
	case *FetchRequest:
		c := *q
		c.partitions, c.forgotten = nil, nil
		return c
	}
	return body
}
