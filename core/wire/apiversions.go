package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
)

// maxApiVersions is the highest version of ApiVersions, on both listeners.
const maxApiVersions int16 = 5

// UnsupportedApiVersions is the body of an ApiVersions request of a version that is not spoken.
// It is answered with AppendUnsupportedApiVersions, so that the client can come down.
type UnsupportedApiVersions struct{}

// AppendUnsupportedApiVersions appends the answer to UnsupportedApiVersions: version 0 with error
// 35 and the one entry {18, 0, 5}, as a live Kafka 4.4 gives it.
func AppendUnsupportedApiVersions(dst []byte, correlation int32) []byte {
	dst = appendResponseHeader(dst, KeyApiVersions, false, correlation)
	dst = appendInt16(dst, int16(kafka.UnsupportedVersion))
	dst = appendLength(dst, 1, false)
	dst = appendInt16(dst, KeyApiVersions)
	dst = appendInt16(dst, 0)
	return appendInt16(dst, maxApiVersions)
}

// NewApiVersionsResponse lists the listener's keys. The caller adds features; versions up to 3
// must not list a supported feature whose minimum is 0, because old clients refuse it.
func NewApiVersionsResponse(l Listener) *kmsg.ApiVersionsResponse {
	response := kmsg.NewPtrApiVersionsResponse()
	for _, v := range Versions(l) {
		if v.Key >= KeyMetadataFetch {
			continue // our own; a client would not know it
		}
		key := kmsg.NewApiVersionsResponseApiKey()
		key.ApiKey, key.MinVersion, key.MaxVersion = v.Key, v.AdvertisedMin, v.Max
		response.ApiKeys = append(response.ApiKeys, key)
	}
	return response
}

// AddSupportedFeature tells that levels of a feature are supported (KIP-584).
func AddSupportedFeature(answer *kmsg.ApiVersionsResponse, name string, least, most int16) {
	f := kmsg.NewApiVersionsResponseSupportedFeature()
	f.Name, f.MinVersion, f.MaxVersion = name, least, most
	answer.SupportedFeatures = append(answer.SupportedFeatures, f)
}

// AddFinalizedFeature tells the level of a feature that is in force.
func AddFinalizedFeature(answer *kmsg.ApiVersionsResponse, name string, level int16) {
	f := kmsg.NewApiVersionsResponseFinalizedFeature()
	f.Name, f.MinVersionLevel, f.MaxVersionLevel = name, level, level
	answer.FinalizedFeatures = append(answer.FinalizedFeatures, f)
}

// ValidClientSoftware says whether Kafka accepts a client's software name or version (KIP-511):
// letters, digits, dots and dashes, with a letter or digit at both ends.
func ValidClientSoftware(s string) bool {
	for i := range len(s) {
		c := s[i]
		inner := (c == '.' || c == '-') && i > 0 && i < len(s)-1
		if !inner && !alphanumeric(c) {
			return false
		}
	}
	return s != ""
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
