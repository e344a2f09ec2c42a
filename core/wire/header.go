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
// version is returned together with an *Error of that kind.
func ParseHeader(l Listener, frame []byte) (h Header, body []byte, err error) {
	panic("not yet")
}
