package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// QuorumMessagesRequest carries raft's messages from one voter to another. It is Stet's own.
//
//	clusterId nullable string, fromVoter int64, toVoter int64, messages [bytes], tags
type QuorumMessagesRequest struct {
	OwnVersion
	ClusterID string // "" while the quorum has not chosen one; null on the wire
	FromVoter int64
	ToVoter   int64
	Messages  [][]byte // marshalled raftpb.Message; after ReadFrom views
}

// QuorumMessagesResponse says that the messages were taken, which says nothing of what raft makes
// of them, or why none was.
//
//	errorCode int16, tags
type QuorumMessagesResponse struct {
	OwnVersion
	ErrorCode int16 // INCONSISTENT_CLUSTER_ID, INCONSISTENT_VOTER_SET, or none
}

const quorumMessageBytes = 24 // a slice header

var (
	_ kmsg.Request  = (*QuorumMessagesRequest)(nil)
	_ kmsg.Response = (*QuorumMessagesResponse)(nil)
)

// Key implements kmsg.Request.
func (*QuorumMessagesRequest) Key() int16 { return KeyQuorumMessages }

// ResponseKind implements kmsg.Request.
func (*QuorumMessagesRequest) ResponseKind() kmsg.Response { return new(QuorumMessagesResponse) }

// AppendTo implements kmsg.Request.
func (q *QuorumMessagesRequest) AppendTo(dst []byte) []byte {
	dst = appendOptional(dst, q.ClusterID)
	dst = appendInt64(dst, q.FromVoter)
	dst = appendInt64(dst, q.ToVoter)
	dst = appendLength(dst, len(q.Messages), true)
	for _, m := range q.Messages {
		dst = appendLength(dst, len(m), true)
		dst = append(dst, m...)
	}
	return append(dst, 0)
}

// ReadFrom implements kmsg.Request.
func (q *QuorumMessagesRequest) ReadFrom(src []byte) error {
	return readOwn(src, func(r *reader) {
		q.ClusterID = r.nullableString()
		q.FromVoter = r.int64()
		q.ToVoter = r.int64()
		q.Messages = q.Messages[:0]
		for n := r.list(true, quorumMessageBytes); n > 0 && r.ok(); n-- {
			q.Messages = append(q.Messages, r.blob(true))
		}
	})
}

func scanQuorumMessages(r *reader) {
	r.scanNullableText(true)
	r.skip(8 + 8)
	for n := r.list(true, quorumMessageBytes); n > 0 && r.ok(); n-- {
		r.blob(true)
	}
	r.scanTags(true)
}

// Key implements kmsg.Response.
func (*QuorumMessagesResponse) Key() int16 { return KeyQuorumMessages }

// RequestKind implements kmsg.Response.
func (*QuorumMessagesResponse) RequestKind() kmsg.Request { return new(QuorumMessagesRequest) }

// AppendTo implements kmsg.Response.
func (q *QuorumMessagesResponse) AppendTo(dst []byte) []byte {
	return append(appendInt16(dst, q.ErrorCode), 0)
}

// ReadFrom implements kmsg.Response.
func (q *QuorumMessagesResponse) ReadFrom(src []byte) error {
	return readOwn(src, func(r *reader) { q.ErrorCode = r.int16() })
}
