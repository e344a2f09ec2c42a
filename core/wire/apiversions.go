package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// UnsupportedApiVersions is the body of an ApiVersions request of a version that is not spoken.
// It is answered with AppendUnsupportedApiVersions, so that the client can come down.
type UnsupportedApiVersions struct{}

// AppendUnsupportedApiVersions appends the answer to UnsupportedApiVersions: version 0 with error
// 35 and the one entry {18, 0, 5}, as a live Kafka 4.4 gives it.
func AppendUnsupportedApiVersions(dst []byte, correlation int32) []byte { panic("not yet") }

// NewApiVersionsResponse lists the listener's keys. The caller adds features.
func NewApiVersionsResponse(l Listener) *kmsg.ApiVersionsResponse { panic("not yet") }

// ValidClientSoftware says whether Kafka accepts a client's software name or version (KIP-511):
// letters, digits, dots and dashes, with a letter or digit at both ends.
func ValidClientSoftware(s string) bool { panic("not yet") }
