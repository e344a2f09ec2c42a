package wire

import "fmt"

// ErrorKind classifies why a frame is refused. Every kind ends the connection.
type ErrorKind uint8

const (
	// Malformed is a frame that its schema does not describe, or that exceeds a limit.
	Malformed ErrorKind = iota + 1
	// UnknownKey is a key that the listener does not have.
	UnknownKey
	// UnsupportedVersion is a version that the listener does not speak. A version of ApiVersions
	// that is not spoken is no error: see UnsupportedApiVersions.
	UnsupportedVersion
)

// Error says why a frame is refused.
type Error struct {
	Kind         ErrorKind
	Key, Version int16 // as far as they were read, otherwise -1
	At           int   // offset in the frame
	What         string
}

// Error describes e in one line.
func (e *Error) Error() string {
	switch e.Kind {
	case UnknownKey:
		return fmt.Sprintf("request with unknown key %d (version %d)", e.Key, e.Version)
	case UnsupportedVersion:
		return fmt.Sprintf("%s request of unsupported version %d", keyName(e.Key), e.Version)
	}
	if e.Key < 0 {
		return fmt.Sprintf("malformed request header at byte %d: %s", e.At, e.What)
	}
	return fmt.Sprintf("malformed %s v%d at byte %d: %s", keyName(e.Key), e.Version, e.At, e.What)
}

func keyName(key int16) string {
	if v, ok := lookupAny(key); ok {
		return v.Name
	}
	return fmt.Sprintf("key %d", key)
}
