package env

// Part is a piece of what a connection sends: bytes, or a range of a file.
type Part struct {
	Bytes    []byte // when File is nil
	File     File
	Off, Len int64
}

// ConnWriter is the sending half of a connection, as a world offers it to the node.
type ConnWriter interface {
	// Send passes on all parts in order, or fails. It may block (production) until the peer takes
	// them; the parts are the caller's again when it returns, but ranges of files may still be
	// read until the peer has them. It returns the bytes passed on.
	Send(parts []Part) (n int64, err Errno)
	// Resume lets the reading half continue after a Verdict of Pause.
	Resume()
	// Close ends the connection; the reading half reports it through ConnReader.Closed.
	Close()
}

// Verdict is what a reading half is told to do next.
type Verdict uint8

const (
	Continue Verdict = iota // read on
	Pause                   // stop until ConnWriter.Resume
	Hangup                  // close the connection
)

// ConnReader is the node's receiver of one connection's frames. A world calls it from one thread
// at a time.
type ConnReader interface {
	// Reserve is called with the size that a frame's prefix announces, before memory is taken.
	// It returns the buffer to fill, of exactly that size; nil with Pause means that no budget is
	// free now: call again after Resume. Hangup refuses the size.
	Reserve(size int32) (Buffer, Verdict)
	// Deliver passes on the filled buffer. The buffer belongs to the receiver.
	Deliver(frame Buffer) Verdict
	// Closed reports the end, once.
	Closed(err Errno)
}

// Dialed is the receiver of a connection that was asked for: Opened is called first, once it
// stands, and then what ConnReader says. If it never stands, only Closed is called.
type Dialed interface {
	ConnReader
	// Opened passes on the sending half.
	Opened(w ConnWriter, info ConnInfo)
}

// Acceptor is told of a new inbound connection and returns its receiver, or nil to refuse it.
type Acceptor interface {
	Accept(w ConnWriter, info ConnInfo) ConnReader
}
