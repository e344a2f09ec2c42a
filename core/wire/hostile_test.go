package wire

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"stet/core/env"
)

// allocated measures the bytes that f takes from the allocator.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func head(key, version int16, flexible bool) []byte {
	return appendRequestHeader(nil, Header{Key: key, Version: version}, flexible)
}

func TestMillionsOfEmptyNamesAreRefusedCheaply(t *testing.T) {
	frame := appendInt32(head(KeyMetadata, 1, false), 4_700_000)
	frame = append(frame, make([]byte, 9_400_000)...)
	taken := allocated(func() {
		e := refusal(t, BrokerListener, frame)
		require.Equal(t, Malformed, e.Kind)
		require.Equal(t, "malformed Metadata v1 at byte 14: an array has too many elements", e.Error())
	})
	require.Less(t, taken, uint64(64<<10))
}

func TestAmplifyingRequestsAreRefused(t *testing.T) {
	elements := func(n int, flexible bool, key, version int16, prefix int) []byte {
		frame := append(head(key, version, flexible), make([]byte, prefix)...)
		frame = appendLength(frame, n, flexible)
		for range n {
			frame = appendText(frame, "", flexible)
		}
		return append(frame, make([]byte, 64)...)
	}
	for name, frame := range map[string][]byte{
		"metadata":        elements(900_000, false, KeyMetadata, 0, 0),
		"compact":         elements(900_000, true, KeyMetadata, 9, 0),
		"produced topics": elements(900_000, false, KeyProduce, 3, 8),
		"fetched topics":  elements(900_000, false, KeyFetch, 4, 17),

		"described resources": elements(900_000, false, KeyDescribeConfigs, 1, 0),
		"replaced settings":   elements(900_000, false, KeyAlterConfigs, 0, 0),
		"altered settings":    elements(900_000, false, KeyIncrementalAlterConfigs, 0, 0),
		"grown topics":        elements(900_000, false, KeyCreatePartitions, 0, 0),
		"described topics":    elements(900_000, true, KeyDescribeTopicPartitions, 0, 0),
		"elected topics":      elements(900_000, false, KeyElectLeaders, 0, 0),
		"reassigned topics":   elements(900_000, true, KeyAlterPartitionReassignments, 0, 4),
		"listed topics":       elements(900_000, true, KeyListPartitionReassignments, 0, 4),
		"features":            elements(900_000, true, KeyUpdateFeatures, 0, 4),
		"quorums":             elements(900_000, true, KeyDescribeQuorum, 0, 0),
		"voters":              elements(900_000, true, KeyAddRaftVoter, 0, 1+4+4+16),
	} {
		taken := allocated(func() {
			e := refusal(t, BrokerListener, frame)
			require.Contains(t, e.What, "too much memory", name)
		})
		require.Less(t, taken, uint64(2*len(frame)), name)
	}
}

func TestRealRequestsAreFarFromTheLimits(t *testing.T) {
	metadata := kmsg.NewPtrMetadataRequest()
	listed := kmsg.NewPtrListOffsetsRequest()
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = "t"
	for i := range 100_000 {
		name := "t" + strings.Repeat("x", i%3)
		metadata.Topics = append(metadata.Topics, kmsg.MetadataRequestTopic{Topic: &name})
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition = int32(i)
		topic.Partitions = append(topic.Partitions, p)
	}
	listed.Topics = append(listed.Topics, topic)
	for version := int16(0); version <= 13; version++ {
		metadata.Version = version
		decodeGolden(t, BrokerListener, AppendRequest(nil, 1, "", metadata))
	}
	for version := int16(1); version <= 11; version++ {
		listed.Version = version
		decodeGolden(t, BrokerListener, AppendRequest(nil, 1, "", listed))
	}
}

func TestLyingLengthsAreMalformed(t *testing.T) {
	produce := func(tail string) []byte {
		return append(head(KeyProduce, 3, false), unhex(t, "ffff 0001 00000000", tail)...)
	}
	flexible := func(tail string) []byte {
		return append(head(KeyProduce, 9, true), unhex(t, "00 0001 00000000", tail)...)
	}
	for name, c := range map[string]struct {
		frame []byte
		what  string
	}{
		"null array":          {produce("ffffffff"), isNull},
		"negative array":      {produce("80000000"), isNull},
		"array beyond frame":  {produce("00000009 0000"), "more elements than"},
		"null name":           {produce("00000001 ffff 00000000"), isNull},
		"negative name":       {produce("00000001 8000 00000000"), isNull},
		"name beyond frame":   {produce("00000001 7fff 00000000"), short},
		"records beyond":      {produce("00000001 0000 00000001 00000000 7fffffff"), short},
		"compact null array":  {flexible("00"), isNull},
		"compact huge array":  {flexible("ffffffff07"), "more elements than"},
		"varint of 32 bits":   {flexible("ffffffff0f"), "31 bits"},
		"varint of six bytes": {flexible("8080808080 01"), "31 bits"},
		"half a varint":       {flexible("8080"), short},
		"too many tags":       {flexible("01 914e"), "too many tagged fields"},
		"tag beyond frame":    {flexible("01 01 00 7f"), short},
		"no tags":             {flexible("01"), short},
	} {
		e := refusal(t, BrokerListener, c.frame)
		require.Equal(t, Malformed, e.Kind, name)
		require.Contains(t, e.What, c.what, name)
		require.LessOrEqual(t, e.At, len(c.frame), name)
	}
	for size := range MinFrameBytes {
		e := refusal(t, BrokerListener, head(KeyMetadata, 0, false)[:size])
		require.Equal(t, Malformed, e.Kind)
	}
}

func TestATagThatLiesIsMalformed(t *testing.T) {
	frame := append(head(KeyFetch, 15, true), make([]byte, 4+4+4+1+4+4)...)
	frame = append(frame, 1, 1, 1)                            // no topics, none forgotten, no rack
	frame = append(frame, 1, 1, 3, 0, 0, 0, 1, 2, 3, 4, 5, 6) // a replica state of three bytes
	e := refusal(t, BrokerListener, frame)
	require.Contains(t, e.What, short)
}

func TestEveryProperPrefixIsMalformed(t *testing.T) {
	everyVersion(t, func(t *rapid.T, l Listener, key, version int16) {
		frame := AppendRequest(nil, 1, "c", drawRequest(t, key, version))
		cut := rapid.IntRange(0, len(frame)-1).Draw(t, "cut")
		request := new(env.Request)
		err := NewDecoder(l, wide()).Decode(frame[:cut], request)
		require.Error(t, err)
		require.Equal(t, Malformed, err.(*Error).Kind)
		require.Nil(t, request.Body)
	})
}

// TestMemoryEstimatesAreNotTooLow compares the constants that bound memory with the types.
func TestMemoryEstimatesAreNotTooLow(t *testing.T) {
	for _, c := range []struct {
		estimate int64
		actual   uintptr
	}{
		{produceTopicBytes, unsafe.Sizeof(ProduceTopic{})},
		{producePartitionBytes, unsafe.Sizeof(ProducePartition{})},
		{fetchTopicBytes, unsafe.Sizeof(FetchTopic{})},
		{fetchPartitionBytes, unsafe.Sizeof(FetchPartition{})},
		{forgottenTopicBytes, unsafe.Sizeof(ForgottenTopic{})},
		{metadataEntryBytes, unsafe.Sizeof(MetadataEntry{})},
		{quorumFounderBytes, unsafe.Sizeof(QuorumFounder{})},
		{quorumMessageBytes, unsafe.Sizeof([]byte{})},
		{scanTextBytes, unsafe.Sizeof("")},
		{scanOffsetTopic, unsafe.Sizeof(kmsg.ListOffsetsRequestTopic{})},
		{scanOffsetPartition, unsafe.Sizeof(kmsg.ListOffsetsRequestTopicPartition{})},
		{scanMetadataTopic, unsafe.Sizeof(kmsg.MetadataRequestTopic{}) + 16},
		{scanCreateTopic, unsafe.Sizeof(kmsg.CreateTopicsRequestTopic{})},
		{scanCreateAssignment, unsafe.Sizeof(kmsg.CreateTopicsRequestTopicReplicaAssignment{})},
		{scanCreateConfig, unsafe.Sizeof(kmsg.CreateTopicsRequestTopicConfig{}) + 16},
		{scanDeleteTopic, unsafe.Sizeof(kmsg.DeleteTopicsRequestTopic{}) + 16},
		{scanListener, unsafe.Sizeof(kmsg.BrokerRegistrationRequestListener{})},
		{scanDescribeResource, unsafe.Sizeof(kmsg.DescribeConfigsRequestResource{})},
		{scanAlterResource, unsafe.Sizeof(kmsg.IncrementalAlterConfigsRequestResource{})},
		{scanAlterResource, unsafe.Sizeof(kmsg.AlterConfigsRequestResource{})},
		{scanIncrementalConfig, unsafe.Sizeof(kmsg.IncrementalAlterConfigsRequestResourceConfig{}) + 16},
		{scanAlterConfig, unsafe.Sizeof(kmsg.AlterConfigsRequestResourceConfig{}) + 16},
		{scanGrowTopic, unsafe.Sizeof(kmsg.CreatePartitionsRequestTopic{})},
		{scanGrowAssignment, unsafe.Sizeof(kmsg.CreatePartitionsRequestTopicAssignment{})},
		{scanElectedTopic, unsafe.Sizeof(kmsg.ElectLeadersRequestTopic{})},
		{scanReassignedTopic, unsafe.Sizeof(kmsg.AlterPartitionAssignmentsRequestTopic{})},
		{scanReassigned, unsafe.Sizeof(kmsg.AlterPartitionAssignmentsRequestTopicPartition{})},
		{scanListedTopic, unsafe.Sizeof(kmsg.ListPartitionReassignmentsRequestTopic{})},
		{scanAlteredTopic, unsafe.Sizeof(kmsg.AlterPartitionRequestTopic{})},
		{scanAlteredPartition, unsafe.Sizeof(kmsg.AlterPartitionRequestTopicPartition{})},
		{scanAlteredMember, unsafe.Sizeof(kmsg.AlterPartitionRequestTopicPartitionNewEpochISR{})},
		{scanEpochTopic, unsafe.Sizeof(kmsg.OffsetForLeaderEpochRequestTopic{})},
		{scanEpochPartition, unsafe.Sizeof(kmsg.OffsetForLeaderEpochRequestTopicPartition{})},
		{scanLogDirTopic, unsafe.Sizeof(kmsg.DescribeLogDirsRequestTopic{})},
		{scanDescribeTopic, unsafe.Sizeof(kmsg.DescribeTopicPartitionsRequestTopic{})},
		{scanPartitionsCursor, unsafe.Sizeof(kmsg.DescribeTopicPartitionsRequestCursor{})},
		{scanFeatureUpdate, unsafe.Sizeof(kmsg.UpdateFeaturesRequestFeatureUpdate{})},
		{scanQuorumTopic, unsafe.Sizeof(kmsg.DescribeQuorumRequestTopic{})},
		{scanQuorumPartition, unsafe.Sizeof(kmsg.DescribeQuorumRequestTopicPartition{})},
		{scanVoterListener, unsafe.Sizeof(kmsg.AddRaftVoterRequestListener{})},
		{scanVoterListener, unsafe.Sizeof(kmsg.UpdateRaftVoterRequestListener{})},
		{scanFeature, unsafe.Sizeof(kmsg.BrokerRegistrationRequestFeature{})},
	} {
		require.GreaterOrEqual(t, c.estimate, int64(c.actual))
		require.LessOrEqual(t, c.estimate, int64(c.actual)+32)
	}
}

func TestFrameSizeIsAsTheProtocolSays(t *testing.T) {
	b := AppendFrameSize(nil, -2)
	require.Len(t, b, LengthBytes)
	require.Equal(t, int32(-2), FrameSize(b))
	require.Equal(t, uint32(0xfffffffe), binary.BigEndian.Uint32(b))
}
