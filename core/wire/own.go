package wire

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// OwnVersion is what Stet's own messages, which have version 0 only and are flexible, have in
// common as kmsg messages.
type OwnVersion struct{ Version int16 }

// MaxVersion implements kmsg.Request and kmsg.Response.
func (*OwnVersion) MaxVersion() int16 { return 0 }

// SetVersion implements kmsg.Request and kmsg.Response.
func (o *OwnVersion) SetVersion(v int16) { o.Version = v }

// GetVersion implements kmsg.Request and kmsg.Response.
func (o *OwnVersion) GetVersion() int16 { return o.Version }

// IsFlexible implements kmsg.Request and kmsg.Response.
func (*OwnVersion) IsFlexible() bool { return true }

// ownRequest makes an empty request of a key of Stet's own, or nil.
func ownRequest(key int16) kmsg.Request {
	switch key {
	case KeyMetadataFetch:
		return new(MetadataFetchRequest)
	case KeyQuorumHello:
		return new(QuorumHelloRequest)
	case KeyQuorumMessages:
		return new(QuorumMessagesRequest)
	case KeyQuorumSnapshot:
		return new(QuorumSnapshotRequest)
	case KeyMetadataIndex:
		return new(MetadataIndexRequest)
	case KeyReplicaStatus:
		return new(ReplicaStatusRequest)
	}
	return nil
}

// ownResponse makes an empty response of a key of Stet's own, or nil.
func ownResponse(key int16) kmsg.Response {
	switch key {
	case KeyMetadataFetch:
		return new(MetadataFetchResponse)
	case KeyQuorumHello:
		return new(QuorumHelloResponse)
	case KeyQuorumMessages:
		return new(QuorumMessagesResponse)
	case KeyQuorumSnapshot:
		return new(QuorumSnapshotResponse)
	case KeyMetadataIndex:
		return new(MetadataIndexResponse)
	case KeyReplicaStatus:
		return new(ReplicaStatusResponse)
	}
	return nil
}

// readOwn reads a body of Stet's own.
func readOwn(src []byte, read func(*reader)) error {
	limits := DefaultLimits()
	in := newReader(src, 0, &limits)
	read(&in)
	in.skipTags(true)
	if in.ok() {
		return nil
	}
	return fmt.Errorf("byte %d: %s", in.where, in.fault)
}

// nullableString copies a string: "" when null.
func (r *reader) nullableString() string { return string(r.nullableText(true)) }

// appendOptional appends s, or null if it is empty.
func appendOptional(dst []byte, s string) []byte {
	return appendNullableText(dst, s, s == "", true)
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}
