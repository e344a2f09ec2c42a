package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// MetadataFetchRequest asks a controller for the committed metadata log from an index on. It is
// Stet's own, in the style of Kafka's flexible versions, and a kmsg.Request.
//
//	brokerId int32, fromIndex int64, maxBytes int32, maxWaitMs int32, tags
type MetadataFetchRequest struct {
	Version   int16
	BrokerID  int32
	FromIndex int64 // the first entry that is wanted; indexes start at 1
	MaxBytes  int32 // of entries; one is returned even if it is larger
	MaxWaitMs int32 // how long to wait when there is no new entry
}

// MetadataFetchResponse is a kmsg.Response.
//
//	errorCode int16, leaderId int32, committedIndex int64,
//	snapshotIndex int64, snapshotEpoch int32, snapshot nullable bytes,
//	entries [index int64, epoch int32, record bytes, tags], tags
//
// When the wanted entries are gone, Snapshot is the image as of SnapshotIndex, and the entries, if
// any, follow it.
type MetadataFetchResponse struct {
	Version        int16
	ErrorCode      int16 // NOT_CONTROLLER when this node does not lead
	LeaderID       int32 // of the controllers; -1 when not known
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

var (
	_ kmsg.Request  = (*MetadataFetchRequest)(nil)
	_ kmsg.Response = (*MetadataFetchResponse)(nil)
)

// Key implements kmsg.Request.
func (*MetadataFetchRequest) Key() int16 { return KeyMetadataFetch }

// MaxVersion implements kmsg.Request.
func (*MetadataFetchRequest) MaxVersion() int16 { return 0 }

// SetVersion implements kmsg.Request.
func (r *MetadataFetchRequest) SetVersion(v int16) { r.Version = v }

// GetVersion implements kmsg.Request.
func (r *MetadataFetchRequest) GetVersion() int16 { return r.Version }

// IsFlexible implements kmsg.Request.
func (*MetadataFetchRequest) IsFlexible() bool { return true }

// ResponseKind implements kmsg.Request.
func (r *MetadataFetchRequest) ResponseKind() kmsg.Response {
	return &MetadataFetchResponse{Version: r.Version}
}

// AppendTo implements kmsg.Request.
func (r *MetadataFetchRequest) AppendTo(dst []byte) []byte { panic("not yet") }

// ReadFrom implements kmsg.Request.
func (r *MetadataFetchRequest) ReadFrom(src []byte) error { panic("not yet") }

// Key implements kmsg.Response.
func (*MetadataFetchResponse) Key() int16 { return KeyMetadataFetch }

// MaxVersion implements kmsg.Response.
func (*MetadataFetchResponse) MaxVersion() int16 { return 0 }

// SetVersion implements kmsg.Response.
func (r *MetadataFetchResponse) SetVersion(v int16) { r.Version = v }

// GetVersion implements kmsg.Response.
func (r *MetadataFetchResponse) GetVersion() int16 { return r.Version }

// IsFlexible implements kmsg.Response.
func (*MetadataFetchResponse) IsFlexible() bool { return true }

// RequestKind implements kmsg.Response.
func (r *MetadataFetchResponse) RequestKind() kmsg.Request {
	return &MetadataFetchRequest{Version: r.Version}
}

// AppendTo implements kmsg.Response.
func (r *MetadataFetchResponse) AppendTo(dst []byte) []byte { panic("not yet") }

// ReadFrom implements kmsg.Response.
func (r *MetadataFetchResponse) ReadFrom(src []byte) error { panic("not yet") }
