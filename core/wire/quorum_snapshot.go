package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// QuorumSnapshotRequest asks a voter for a piece of the body of its snapshot. It is Stet's own.
//
//	voterId int64, index int64, term int64, offset int64, maxBytes int32, tags
type QuorumSnapshotRequest struct {
	OwnVersion
	VoterID  int64 // whose snapshot it is
	Index    int64 // of the last entry that the snapshot covers
	Term     int64 // of that entry
	Offset   int64 // of the first byte that is wanted
	MaxBytes int32
}

// QuorumSnapshotResponse is a piece of a snapshot, or says that there is no such snapshot any more.
//
//	errorCode int16, size int64, offset int64, bytes bytes, tags
type QuorumSnapshotResponse struct {
	OwnVersion
	ErrorCode int16  // SNAPSHOT_NOT_FOUND, POSITION_OUT_OF_RANGE, INCONSISTENT_VOTER_SET, or none
	Size      int64  // of the whole body
	Offset    int64  // of Bytes
	Bytes     []byte // after ReadFrom a view
}

var (
	_ kmsg.Request  = (*QuorumSnapshotRequest)(nil)
	_ kmsg.Response = (*QuorumSnapshotResponse)(nil)
)

// Key implements kmsg.Request.
func (*QuorumSnapshotRequest) Key() int16 { return KeyQuorumSnapshot }

// ResponseKind implements kmsg.Request.
func (*QuorumSnapshotRequest) ResponseKind() kmsg.Response { return new(QuorumSnapshotResponse) }

// AppendTo implements kmsg.Request.
func (q *QuorumSnapshotRequest) AppendTo(dst []byte) []byte {
	dst = appendInt64(dst, q.VoterID)
	dst = appendInt64(dst, q.Index)
	dst = appendInt64(dst, q.Term)
	dst = appendInt64(dst, q.Offset)
	return append(appendInt32(dst, q.MaxBytes), 0)
}

// ReadFrom implements kmsg.Request.
func (q *QuorumSnapshotRequest) ReadFrom(src []byte) error {
	return readOwn(src, func(r *reader) {
		q.VoterID = r.int64()
		q.Index = r.int64()
		q.Term = r.int64()
		q.Offset = r.int64()
		q.MaxBytes = r.int32()
	})
}

func scanQuorumSnapshot(r *reader) {
	r.skip(8 + 8 + 8 + 8 + 4)
	r.scanTags(true)
}

// Key implements kmsg.Response.
func (*QuorumSnapshotResponse) Key() int16 { return KeyQuorumSnapshot }

// RequestKind implements kmsg.Response.
func (*QuorumSnapshotResponse) RequestKind() kmsg.Request { return new(QuorumSnapshotRequest) }

// AppendTo implements kmsg.Response.
func (q *QuorumSnapshotResponse) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, q.ErrorCode)
	dst = appendInt64(dst, q.Size)
	dst = appendInt64(dst, q.Offset)
	dst = appendLength(dst, len(q.Bytes), true)
	dst = append(dst, q.Bytes...)
	return append(dst, 0)
}

// ReadFrom implements kmsg.Response.
func (q *QuorumSnapshotResponse) ReadFrom(src []byte) error {
	return readOwn(src, func(r *reader) {
		q.ErrorCode = r.int16()
		q.Size = r.int64()
		q.Offset = r.int64()
		q.Bytes = r.blob(true)
	})
}
