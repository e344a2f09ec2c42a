package wire

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
)

// unhex reads hexadecimal digits with spaces.
func unhex(t testing.TB, digits ...string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Join(digits, ""), " ", ""))
	require.NoError(t, err)
	return b
}

var goldenID = kafka.TopicID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

const goldenIDHex = "0102030405060708090a0b0c0d0e0f10"

func decodeGolden(t testing.TB, l Listener, frame []byte) *env.Request {
	request := new(env.Request)
	require.NoError(t, NewDecoder(l, DefaultLimits()).Decode(frame, request))
	return request
}

func refusal(t testing.TB, l Listener, frame []byte) *Error {
	request := new(env.Request)
	err := NewDecoder(l, DefaultLimits()).Decode(frame, request)
	require.Error(t, err)
	require.Nil(t, request.Body)
	return err.(*Error)
}

// The bodies marked "from Java" were written by the message classes of kafka-clients 4.4.0.

func TestProduceResponseWithLeaderIsWrittenAsByJava(t *testing.T) {
	var r ProduceResponse
	r.ThrottleMs = 31
	r.Endpoints = []Endpoint{{1, "h1", 9092, "r"}}
	r.AddTopic("orders", goldenID)
	p := r.AddPartition(2)
	p.Error, p.ErrorMessage = kafka.NotLeaderOrFollower, "moved"
	p.RecordErrors = []RecordError{{3, "bad"}}
	p.CurrentLeader = Leader{1, 9}
	body := "02000000020006ffffffffffffffffffffffffffffffffffffffffffffffff0200000003046261640006" +
		"6d6f766564010009000000010000000900000000001f01000f020000000103683100002384027200"
	require.Equal(t, unhex(t, "00000005 00 02 07 6f7264657273", body), r.AppendTo(nil, 12, 5))
	require.Equal(t, unhex(t, "00000005 00 02", goldenIDHex, body), r.AppendTo(nil, 13, 5))
}

func TestFetchResponseWithTagsIsWrittenAsByJava(t *testing.T) {
	var r FetchResponse
	r.ThrottleMs, r.Error, r.SessionID = 31, kafka.InvalidFetchSessionEpoch, 9
	r.Endpoints = []Endpoint{{1, "h1", 9092, ""}}
	r.AddTopic("orders", goldenID)
	p := r.AddPartition(2)
	p.Error, p.HighWatermark = kafka.FencedLeaderEpoch, 100
	p.LastStableOffset, p.LogStartOffset, p.PreferredReplica = 90, 5, 4
	p.DivergingEpoch = DivergingEpoch{3, 77}
	p.CurrentLeader = Leader{1, 9}
	p.Aborted = []AbortedTransaction{{8, 60}}
	require.Equal(t, unhex(t, "00000005 00", goldenFetchBody), r.AppendTo(nil, 18, 5))
}

// goldenFetchBody is from Java.
const goldenFetchBody = "0000001f004700000009020102030405060708090a0b0c0d0e0f100200000002004a000000000000" +
	"0064000000000000005a0000000000000005020000000000000008000000000000003c0000000004" +
	"0102000d00000003000000000000004d0001090000000100000009000001000e0200000001036831" +
	"000023840000"

func TestFetchRequestWithTagsIsReadAsJavaWroteIt(t *testing.T) {
	request := decodeGolden(t, BrokerListener, unhex(t, "00010012000000050001 63 00", // from Java
		"000001f400000001000007d001000000090000000202", goldenIDHex,
		"02000000020000000600000000000000320000000500000000000000", "04000003e8020010", goldenIDHex,
		"0108000000000000002c0002", goldenIDHex,
		"03000000070000000800027202000303636c010d00000003000000000000000b00"))
	require.Equal(t, "c", request.ClientID)
	require.Equal(t, int32(5), request.Correlation)
	require.Equal(t, FetchRequest{
		ClusterID: []byte("cl"), ReplicaID: 3, ReplicaEpoch: 11, MaxWaitMs: 500, MinBytes: 1,
		MaxBytes: 2000, IsolationLevel: 1, SessionID: 9, SessionEpoch: 2, RackID: []byte("r"),
		Topics: []FetchTopic{{ID: goldenID, Partitions: []FetchPartition{{
			Index: 2, CurrentLeaderEpoch: 6, FetchOffset: 50, LastFetchedEpoch: 5,
			LogStartOffset: 4, MaxBytes: 1000, DirectoryID: goldenID, HighWatermark: 44,
		}}}},
		Forgotten: []ForgottenTopic{{ID: goldenID, Partitions: []kafka.PartitionID{7, 8}}},
	}, exported(request.Body))
}

func TestNullClientIDIsEmpty(t *testing.T) {
	frame := unhex(t, "0003 0001 00000005 ffff", "ffffffff") // the header is from Java
	request := decodeGolden(t, BrokerListener, frame)
	require.Equal(t, "", request.ClientID)
	require.Nil(t, request.Body.(*kmsg.MetadataRequest).Topics)
}

func TestApiVersionsResponseHeaderNeverHasTags(t *testing.T) {
	for version := int16(0); version <= maxApiVersions; version++ {
		frame := AppendResponse(nil, version, 5, 0, NewApiVersionsResponse(BrokerListener))
		require.Equal(t, unhex(t, "00000005 0000"), frame[:6], "version %d", version)
	}
}

func TestProduceIsAdvertisedFromZeroAndRefusedBelowThree(t *testing.T) {
	keys := NewApiVersionsResponse(BrokerListener).ApiKeys
	require.Equal(t, int16(0), keys[0].ApiKey)
	require.Equal(t, int16(0), keys[0].MinVersion)
	require.Equal(t, int16(13), keys[0].MaxVersion)
	e := refusal(t, BrokerListener, unhex(t, "0000 0002 00000005 ffff", "0001 00000000 00000000"))
	require.Equal(t, UnsupportedVersion, e.Kind)
	require.Equal(t, "Produce request of unsupported version 2", e.Error())
}

func TestOwnKeysAreNotAdvertised(t *testing.T) {
	for _, key := range NewApiVersionsResponse(ControllerListener).ApiKeys {
		require.Less(t, key.ApiKey, KeyMetadataFetch)
	}
}

func TestUnsupportedApiVersionsIsAnsweredInVersionZero(t *testing.T) {
	for _, version := range []string{"0063", "0006", "7fff"} {
		frame := unhex(t, "0012", version, "00000005 0001 63 00")
		request := decodeGolden(t, BrokerListener, frame)
		require.Equal(t, UnsupportedApiVersions{}, request.Body)
		require.Equal(t, int32(5), request.Correlation)
	}
	answer := AppendUnsupportedApiVersions(nil, 5)
	require.Equal(t, unhex(t, "00000005 0023 00000001 0012 0000 0005"), answer)

	response, err := DecodeResponse(KeyApiVersions, 5, answer)
	require.NoError(t, err)
	require.Equal(t, int16(35), response.(*kmsg.ApiVersionsResponse).ErrorCode)
}

func TestUnsupportedApiVersionsWithoutTagsIsMalformed(t *testing.T) {
	e := refusal(t, BrokerListener, unhex(t, "0012 0063 00000005 0001 63"))
	require.Equal(t, Malformed, e.Kind)
}

func TestUnknownKeysAreNamed(t *testing.T) {
	frame := unhex(t, "03e7 0001 00000005 ffff")
	e := refusal(t, BrokerListener, frame)
	require.Equal(t, UnknownKey, e.Kind)
	require.Equal(t, "request with unknown key 999 (version 1)", e.Error())
	h, _, err := ParseHeader(BrokerListener, frame)
	require.Error(t, err)
	require.Equal(t, Header{Key: 999, Version: 1, Correlation: 5}, h)

	// A key of the other listener is as unknown.
	heartbeat := unhex(t, "003f 0000 00000005 ffff")
	require.Equal(t, UnknownKey, refusal(t, BrokerListener, heartbeat).Kind)
	produce := unhex(t, "0000 0009 00000005 ffff")
	require.Equal(t, UnknownKey, refusal(t, ControllerListener, produce).Kind)
}

func TestBytesBehindTheBodyAreIgnoredAsByKafka(t *testing.T) {
	frame := AppendRequest(nil, 1, "c", kmsg.NewPtrMetadataRequest())
	require.Equal(t, decodeGolden(t, BrokerListener, frame),
		decodeGolden(t, BrokerListener, append(frame, "garbage"...)))
}

func TestNoResponseIsForAcksZeroAlone(t *testing.T) {
	require.True(t, NoResponse(&env.Request{Body: &ProduceRequest{}}))
	require.False(t, NoResponse(&env.Request{Body: &ProduceRequest{Acks: 1}}))
	require.False(t, NoResponse(&env.Request{Body: &FetchRequest{}}))
	require.False(t, NoResponse(&env.Request{}))
}

func TestClientSoftwareNamesFollowKIP511(t *testing.T) {
	for name, valid := range map[string]bool{
		"apache-kafka-java": true, "4.4.0": true, "a": true, "": false, "-a": false, "a.": false,
		"a b": false, "ä": false,
	} {
		require.Equal(t, valid, ValidClientSoftware(name), name)
	}
}
