package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// AppendResponse appends a response of this version, header included and length prefix not. It
// sets the version and, where the response has one, the throttle time in r.
func AppendResponse(
	dst []byte, version int16, correlation, throttleMs int32, r kmsg.Response,
) []byte {
	r.SetVersion(version)
	if throttled, ok := r.(kmsg.SetThrottleResponse); ok {
		throttled.SetThrottle(throttleMs)
	}
	dst = appendResponseHeader(dst, r.Key(), r.IsFlexible(), correlation)
	return r.AppendTo(dst)
}
