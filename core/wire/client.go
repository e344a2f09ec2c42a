package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
)

// AppendRequest appends a request, of the version that is set in r, header included and length
// prefix not. An empty client id is written as such, not as null.
func AppendRequest(dst []byte, correlation int32, clientID string, r kmsg.Request) []byte {
	h := Header{
		Key: r.Key(), Version: r.GetVersion(), Correlation: correlation,
		ClientID: []byte(clientID),
	}
	return r.AppendTo(appendRequestHeader(dst, h, r.IsFlexible()))
}

// ResponseCorrelation reads the correlation id of a response frame; ok is false if the frame is
// too short to have one.
func ResponseCorrelation(frame []byte) (correlation int32, ok bool) {
	if len(frame) < 4 {
		return 0, false
	}
	return int32(binary.BigEndian.Uint32(frame)), true
}

// DecodeResponse reads a response frame, without its length prefix, to a request of this key and
// version, which may be any that kmsg knows. Byte fields (records, snapshots) are views into the
// frame; everything else is copied. An ApiVersions response with error 35 is read as version 0,
// whatever was asked (KIP-511). It trusts the peer with memory: the form is checked, but a frame
// may decode to many times its size.
func DecodeResponse(key, version int16, frame []byte) (kmsg.Response, error) {
	response := NewResponse(key)
	if response == nil {
		return nil, fmt.Errorf("response to unknown key %d", key)
	}
	if key == KeyApiVersions && len(frame) >= 6 &&
		binary.BigEndian.Uint16(frame[4:]) == uint16(kafka.UnsupportedVersion) {
		version = 0
	}
	response.SetVersion(version)
	limits := DefaultLimits()
	r := newReader(frame, 0, &limits)
	r.skip(4)
	r.skipTags(response.IsFlexible() && key != KeyApiVersions)
	if !r.ok() {
		return nil, fmt.Errorf("header of %s v%d response: %s", keyName(key), version, r.fault)
	}
	if err := response.ReadFrom(frame[r.at:]); err != nil {
		return nil, fmt.Errorf("%s v%d response: %w", keyName(key), version, err)
	}
	return response, nil
}

// NewResponse makes an empty response of a key, or nil.
func NewResponse(key int16) kmsg.Response {
	if own := ownResponse(key); own != nil {
		return own
	}
	return kmsg.ResponseForKey(key)
}
