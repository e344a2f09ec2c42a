package wire

// Header is a request header, v1 or v2.
//
//	0  int16   api key
//	2  int16   api version
//	4  int32   correlation id
//	8  string  client id, nullable, with a 16-bit length even in flexible versions
//	.  tags    v2 only
type Header struct {
	Key         int16
	Version     int16
	Correlation int32
	ClientID    []byte // a view into the frame; nil when null
}

// ParseHeader reads the header of a request frame to the listener, and returns the body. It
// accepts every version of ApiVersions; otherwise a header of an unknown key or an unsupported
// version is returned, as far as it can be read, together with an *Error of that kind.
func ParseHeader(l Listener, frame []byte) (h Header, body []byte, err error) {
	limits := DefaultLimits()
	r := newReader(frame, 0, &limits)
	h, err = readHeader(l, &r)
	if err != nil {
		return h, nil, err
	}
	return h, frame[r.at:], nil
}

// readHeader leaves r at the body. Its error is an *Error.
func readHeader(l Listener, r *reader) (Header, error) {
	h := Header{Key: r.int16(), Version: r.int16(), Correlation: r.int32()}
	if !r.ok() {
		return Header{}, headerError(r)
	}
	versions, known := Lookup(l, h.Key)
	if !known {
		return h, &Error{Kind: UnknownKey, Key: h.Key, Version: h.Version}
	}
	if !versions.Supports(h.Version) && h.Key != KeyApiVersions {
		return h, &Error{Kind: UnsupportedVersion, Key: h.Key, Version: h.Version}
	}
	h.ClientID = r.nullableText(false)
	r.skipTags(versions.Flexible(h.Version))
	if !r.ok() {
		return h, headerError(r)
	}
	return h, nil
}

func headerError(r *reader) error {
	return &Error{Kind: Malformed, Key: -1, Version: -1, At: r.where, What: r.fault}
}

// appendRequestHeader appends a header as a client writes it.
func appendRequestHeader(dst []byte, h Header, flexible bool) []byte {
	dst = appendInt16(dst, h.Key)
	dst = appendInt16(dst, h.Version)
	dst = appendInt32(dst, h.Correlation)
	dst = appendNullableText(dst, string(h.ClientID), h.ClientID == nil, false)
	if flexible {
		dst = append(dst, 0)
	}
	return dst
}

// appendResponseHeader appends a response header, v0 or v1: the correlation id, and tags (none)
// when the version is flexible. ApiVersions has v0 in every version, because the client does not
// know yet what the broker speaks (KIP-511).
func appendResponseHeader(dst []byte, key int16, flexible bool, correlation int32) []byte {
	dst = appendInt32(dst, correlation)
	if flexible && key != KeyApiVersions {
		dst = append(dst, 0)
	}
	return dst
}
