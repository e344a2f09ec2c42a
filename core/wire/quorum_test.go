package wire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
)

func TestQuorumFramesAreWhatTheirCommentsSay(t *testing.T) {
	hello := &QuorumHelloRequest{QuorumController: QuorumController{
		ClusterID: "c", NodeID: 2, DirectoryID: [16]byte{0xd}, VoterID: 7, Formed: true,
		Nodes: []int32{1, 2}, MinLevel: 3, MaxLevel: 4,
	}}
	controller := "0263 00000002 0d000000000000000000000000000000 0000000000000007 01" +
		"03 00000001 00000002 0003 0004"
	require.Equal(t, unhex(t, controller, "00"), hello.AppendTo(nil))
	answer := &QuorumHelloResponse{
		ErrorCode: 3, QuorumController: hello.QuorumController,
		Founders: []QuorumFounder{{VoterID: 8, NodeID: 1, DirectoryID: [16]byte{0xe}}},
		LeaderID: -1, LeaderVoter: 8, Term: 9, LeaderAddress: "a:1", Stranger: true,
	}
	require.Equal(t, unhex(t, "0003 00", controller,
		"02 0000000000000008 00000001 0e000000000000000000000000000000 00",
		"ffffffff 0000000000000008 0000000000000009 04 613a31 01 00"), answer.AppendTo(nil))

	messages := &QuorumMessagesRequest{FromVoter: 1, ToVoter: 2, Messages: [][]byte{{5, 6}, {}}}
	require.Equal(t, unhex(t, "00 0000000000000001 0000000000000002 03 03 0506 01 00"),
		messages.AppendTo(nil))
	require.Equal(t, unhex(t, "0068 00"), (&QuorumMessagesResponse{ErrorCode: 104}).AppendTo(nil))

	part := &QuorumSnapshotRequest{VoterID: 1, Index: 2, Term: 3, Offset: 4, MaxBytes: 5}
	require.Equal(t, unhex(t, "0000000000000001 0000000000000002 0000000000000003",
		"0000000000000004 00000005 00"), part.AppendTo(nil))
	require.Equal(t, unhex(t, "0000 0000000000000006 0000000000000004 03 0708 00"),
		(&QuorumSnapshotResponse{Size: 6, Offset: 4, Bytes: []byte{7, 8}}).AppendTo(nil))
}

func TestHostileQuorumFramesAreMalformed(t *testing.T) {
	hello := func(tail string) []byte {
		return append(head(KeyQuorumHello, 0, true), append(make([]byte, 1+4+16+8+1), unhex(t, tail)...)...)
	}
	messages := func(tail string) []byte {
		return append(head(KeyQuorumMessages, 0, true), append(make([]byte, 1+8+8), unhex(t, tail)...)...)
	}
	for name, c := range map[string]struct {
		frame []byte
		what  string
	}{
		"null nodes":           {hello("00 00"), isNull},
		"nodes beyond":         {hello("05 00000001 00"), short},
		"nodes far beyond":     {hello("ffff03 00000001 00"), "more elements than"},
		"tags that lie":        {hello("01 00010001 01 05 7f"), short},
		"null messages":        {messages("00 00"), isNull},
		"null message":         {messages("02 00 00"), isNull},
		"message beyond frame": {messages("02 7f 00"), short},
		"missing tags":         {messages("02 01"), short},
	} {
		e := refusal(t, ControllerListener, c.frame)
		require.Equal(t, Malformed, e.Kind, name)
		require.Contains(t, e.What, c.what, name)
	}
}

// A message costs a slice header of 24 bytes and takes at least one, so that a million empty ones
// would take 24 MB.
func TestAMillionEmptyQuorumMessagesAreRefusedCheaply(t *testing.T) {
	q := &QuorumMessagesRequest{Messages: make([][]byte, 1_000_000)}
	frame := AppendRequest(nil, 1, "", q)
	require.Less(t, allocated(func() {
		require.Contains(t, refusal(t, ControllerListener, frame).What, "too")
	}), uint64(64<<10))
}

func TestQuorumMessagesAreViewsOfTheirFrame(t *testing.T) {
	frame := AppendRequest(nil, 1, "", &QuorumMessagesRequest{Messages: [][]byte{make([]byte, 4<<20)}})
	var request env.Request
	require.Less(t, allocated(func() {
		require.NoError(t, NewDecoder(ControllerListener, DefaultLimits()).Decode(frame, &request))
	}), uint64(64<<10))
	require.Len(t, request.Body.(*QuorumMessagesRequest).Messages[0], 4<<20)
}
