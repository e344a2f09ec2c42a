package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// MetadataIndexRequest asks the active controller up to where the metadata log is committed. Whoever
// waits until it has applied that much sees everything that was answered before it asked. It is
// Stet's own.
//
//	tags
type MetadataIndexRequest struct{ OwnVersion }

// MetadataIndexResponse is the answer.
//
//	errorCode int16, index int64, tags
type MetadataIndexResponse struct {
	OwnVersion
	ErrorCode int16 // NOT_CONTROLLER when this node does not lead
	Index     int64 // -1 with an error
}

var (
	_ kmsg.Request  = (*MetadataIndexRequest)(nil)
	_ kmsg.Response = (*MetadataIndexResponse)(nil)
)

// Key implements kmsg.Request.
func (*MetadataIndexRequest) Key() int16 { return KeyMetadataIndex }

// ResponseKind implements kmsg.Request.
func (*MetadataIndexRequest) ResponseKind() kmsg.Response { return new(MetadataIndexResponse) }

// AppendTo implements kmsg.Request.
func (*MetadataIndexRequest) AppendTo(dst []byte) []byte { return append(dst, 0) }

// ReadFrom implements kmsg.Request.
func (*MetadataIndexRequest) ReadFrom(src []byte) error { return readOwn(src, func(*reader) {}) }

// Key implements kmsg.Response.
func (*MetadataIndexResponse) Key() int16 { return KeyMetadataIndex }

// RequestKind implements kmsg.Response.
func (*MetadataIndexResponse) RequestKind() kmsg.Request { return new(MetadataIndexRequest) }

// AppendTo implements kmsg.Response.
func (q *MetadataIndexResponse) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, q.ErrorCode)
	dst = appendInt64(dst, q.Index)
	return append(dst, 0)
}

// ReadFrom implements kmsg.Response.
func (q *MetadataIndexResponse) ReadFrom(src []byte) error {
	return readOwn(src, func(r *reader) { q.ErrorCode, q.Index = r.int16(), r.int64() })
}
