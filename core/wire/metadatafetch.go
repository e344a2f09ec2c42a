package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// MetadataFetchRequest asks a controller for the committed metadata log from an index on. It is
// Stet's own, in the style of Kafka's flexible versions, and a kmsg.Request.
//
//	brokerId int32, clusterId nullable string, fromIndex int64, maxBytes int32, maxWaitMs int32, tags
type MetadataFetchRequest struct {
	OwnVersion
	BrokerID  int32
	ClusterID string // that the broker follows; null on the wire and empty here: it does not know one
	FromIndex int64  // the first entry that is wanted; indexes start at 1
	MaxBytes  int32  // of entries; one is returned even if it is larger
	MaxWaitMs int32  // how long to wait when there is no new entry
}

// MetadataFetchResponse is a kmsg.Response.
//
//	errorCode int16, leaderId int32, leaderAddress nullable string, committedIndex int64,
//	snapshotIndex int64, snapshotEpoch int32, snapshot nullable bytes,
//	entries [index int64, epoch int32, record bytes, tags], tags
//
// When the wanted entries are gone, Snapshot is the image as of SnapshotIndex, and the entries, if
// any, follow it.
type MetadataFetchResponse struct {
	OwnVersion
	ErrorCode      int16  // NOT_CONTROLLER when this node does not lead
	LeaderID       int32  // of the controllers; -1 when not known
	LeaderAddress  string // host:port of the leader's controller listener; "" when not known: null on the wire
	CommittedIndex int64
	SnapshotIndex  int64 // -1 without a snapshot
	SnapshotEpoch  int32
	Snapshot       []byte // nil without a snapshot; after ReadFrom a view
	Entries        []MetadataEntry
}

// MetadataEntry is one entry of the metadata log.
type MetadataEntry struct {
	Index  int64
	Epoch  int32
	Record []byte // after ReadFrom a view
}

const metadataEntryBytes = 40

var (
	_ kmsg.Request  = (*MetadataFetchRequest)(nil)
	_ kmsg.Response = (*MetadataFetchResponse)(nil)
)

// Key implements kmsg.Request.
func (*MetadataFetchRequest) Key() int16 { return KeyMetadataFetch }

// ResponseKind implements kmsg.Request.
func (r *MetadataFetchRequest) ResponseKind() kmsg.Response {
	return new(MetadataFetchResponse)
}

// AppendTo implements kmsg.Request.
func (r *MetadataFetchRequest) AppendTo(dst []byte) []byte {
	dst = appendInt32(dst, r.BrokerID)
	dst = appendOptional(dst, r.ClusterID)
	dst = appendInt64(dst, r.FromIndex)
	dst = appendInt32(dst, r.MaxBytes)
	dst = appendInt32(dst, r.MaxWaitMs)
	return append(dst, 0)
}

// ReadFrom implements kmsg.Request.
func (r *MetadataFetchRequest) ReadFrom(src []byte) error {
	return readOwn(src, func(in *reader) {
		r.BrokerID = in.int32()
		r.ClusterID = in.nullableString()
		r.FromIndex = in.int64()
		r.MaxBytes = in.int32()
		r.MaxWaitMs = in.int32()
	})
}

// Key implements kmsg.Response.
func (*MetadataFetchResponse) Key() int16 { return KeyMetadataFetch }

// RequestKind implements kmsg.Response.
func (r *MetadataFetchResponse) RequestKind() kmsg.Request {
	return new(MetadataFetchRequest)
}

// AppendTo implements kmsg.Response.
func (r *MetadataFetchResponse) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, r.ErrorCode)
	dst = appendInt32(dst, r.LeaderID)
	dst = appendOptional(dst, r.LeaderAddress)
	dst = appendInt64(dst, r.CommittedIndex)
	dst = appendInt64(dst, r.SnapshotIndex)
	dst = appendInt32(dst, r.SnapshotEpoch)
	if r.Snapshot == nil {
		dst = appendLength(dst, -1, true)
	} else {
		dst = appendLength(dst, len(r.Snapshot), true)
		dst = append(dst, r.Snapshot...)
	}
	dst = appendLength(dst, len(r.Entries), true)
	for i := range r.Entries {
		e := &r.Entries[i]
		dst = appendInt64(dst, e.Index)
		dst = appendInt32(dst, e.Epoch)
		dst = appendLength(dst, len(e.Record), true)
		dst = append(dst, e.Record...)
		dst = append(dst, 0)
	}
	return append(dst, 0)
}

// ReadFrom implements kmsg.Response.
func (r *MetadataFetchResponse) ReadFrom(src []byte) error {
	return readOwn(src, func(in *reader) {
		r.ErrorCode = in.int16()
		r.LeaderID = in.int32()
		r.LeaderAddress = in.nullableString()
		r.CommittedIndex = in.int64()
		r.SnapshotIndex = in.int64()
		r.SnapshotEpoch = in.int32()
		r.Snapshot = in.nullableBlob(true)
		r.Entries = r.Entries[:0]
		for n := in.list(true, metadataEntryBytes); n > 0 && in.ok(); n-- {
			e := MetadataEntry{Index: in.int64(), Epoch: in.int32(), Record: in.blob(true)}
			in.skipTags(true)
			r.Entries = append(r.Entries, e)
		}
	})
}
