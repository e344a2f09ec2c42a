package env

// Errno is the closed set of failures that a world may report. Zero is success.
type Errno uint8

const (
	OK         Errno = iota
	EIO              // read, write or sync failed
	ENOSPC           // disk full
	EShort           // a write stored only part of its bytes
	ENOENT           // no such file or directory
	EEXIST           // file exists
	EFenced          // not tried: an earlier effect on this file failed
	EReset           // the peer closed or reset the connection
	ETimedOut        // the peer made no progress for too long
	EMalformed       // the peer sent bytes that are no request
	EOverload        // a budget was exhausted
	ERefused         // nobody listens at the address
	EOther           // anything else; the world's log has the details
	errnoCount
)

// String gives the conventional name.
func (e Errno) String() string {
	switch e {
	case OK:
		return "ok"
	case EIO:
		return "input/output error"
	case ENOSPC:
		return "no space left on device"
	case EShort:
		return "short write"
	case ENOENT:
		return "no such file or directory"
	case EEXIST:
		return "file exists"
	case EFenced:
		return "file fenced by an earlier failure"
	case EReset:
		return "connection closed"
	case ETimedOut:
		return "timed out"
	case EMalformed:
		return "malformed frame"
	case EOverload:
		return "over budget"
	case ERefused:
		return "connection refused"
	}
	return "other error"
}

// Error makes an Errno a Go error. Compare with OK before returning one as an error.
func (e Errno) Error() string { return e.String() }

// Err returns nil for OK and e as an error otherwise.
func (e Errno) Err() error {
	if e == OK {
		return nil
	}
	return e
}
