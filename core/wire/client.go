package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// AppendRequest appends a request, of the version that is set in r, header included and length
// prefix not.
func AppendRequest(dst []byte, correlation int32, clientID string, r kmsg.Request) []byte {
	panic("not yet")
}

// ResponseCorrelation reads the correlation id of a response frame; ok is false if the frame is
// too short to have one.
func ResponseCorrelation(frame []byte) (correlation int32, ok bool) { panic("not yet") }

// DecodeResponse reads a response frame, without its length prefix, to a request of this key and
// version. Records are views into the frame; everything else is copied. An ApiVersions response
// with error 35 is read as version 0, whatever was asked (KIP-511).
func DecodeResponse(key, version int16, frame []byte) (kmsg.Response, error) { panic("not yet") }
