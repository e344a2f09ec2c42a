package env

// EventKind says what happened.
type EventKind uint8

const (
	EventTick         EventKind = iota + 1 // the time asked for by Effects.Wake has come
	EventConnOpened                        // Conn, Info; of a link: it stands
	EventConnClosed                        // Conn, Err; its last event: every slot of it is gone
	EventRequest                           // Conn, Req
	EventResponse                          // Conn (a link), Slot, Res: the decoded response, N (bytes of its frame)
	EventFileDone                          // File, FileOp, Token, N (bytes), Err
	EventResponseSent                      // Conn, Token, N (bytes), Err: a response with ranges has left
	EventJobDone                           // Token, Res
	EventConfig                            // Res: the new immutable configuration
)

// Event is one thing that a loop is told. It is passed by value.
type Event struct {
	Kind   EventKind
	FileOp FileOpKind
	Err    Errno
	Slot   Slot
	Token  Token
	Conn   ConnID
	File   FileID
	N      int64
	Req    *Request
	Info   *ConnInfo
	Res    any // result of a job or decoded response; immutable
}

// ConnInfo describes a connection when it opens. Immutable.
type ConnInfo struct {
	Listener  string // name of the listener, for example PLAINTEXT
	Principal string // authenticated principal; "User:ANONYMOUS" without authentication
	Remote    string // the peer's address, for logs
}

// Request is a frame after prepare: header, decoded body and the facts that judging it needs.
//
// A request, its body and all bytes they point to belong to the core only during the turn that
// delivers it. What must live longer is copied, or named by an effect (FileOp.Buf).
type Request struct {
	Conn        ConnID
	Slot        Slot
	Key         int16
	Version     int16
	Correlation int32
	ClientID    string
	Info        *ConnInfo
	Bytes       int64  // size of the frame, for quotas and budgets
	Body        any    // *wire.ProduceRequest, *wire.FetchRequest or a kmsg request
	Frame       Buffer // owner of the bytes that Body points to; nil in a replay
}

// Buffer is a pooled, reference-counted block of bytes. Implementations are safe for concurrent
// use. A new buffer has one reference; the last Release gives it back.
type Buffer interface {
	Bytes() []byte
	Retain()
	Release()
}
