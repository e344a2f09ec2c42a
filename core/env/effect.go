package env

// Span is a half-open range [Start, End) of an Effects slice.
type Span struct{ Start, End uint32 }

// Len returns the number of elements.
func (s Span) Len() int { return int(s.End - s.Start) }

// FileOpKind says what to do with a file.
type FileOpKind uint8

const (
	FileCreate   FileOpKind = iota + 1 // create Path (it must not exist) and call it File
	FileOpen                           // call the existing Path File
	FileWrite                          // write at Off: Buf (N bytes, stamped with Patch), or Inline
	FileSync                           // make what was written durable
	FileSyncDir                        // make File's directory entry durable
	FileTruncate                       // cut the file to N bytes
	FileClose                          // forget File; pending ranges keep it readable
	FileRemove                         // unlink File's path, then as FileClose
)

// FileOp is an effect on one file. See the law of effects in the package comment.
//
// After a failed or short write, a failed sync, create or truncate, every later FileOp of that
// FileID except FileClose fails with EFenced: the log has to be recovered under new file ids.
type FileOp struct {
	Op     FileOpKind
	File   FileID
	Off, N int64
	Path   string // FileCreate, FileOpen: relative to File's directory
	Buf    BufRef // FileWrite: payload that is not copied
	Inline Span   // FileWrite: payload in Effects.Bytes, when Buf is empty
	Patch  Patch  // FileWrite with Buf
	Token  Token
}

// BufRef names bytes inside a Buffer. An effect that carries one holds a reference of the Buffer
// until the effect is done; the node takes and returns it. In a replay without payloads Data is
// nil; the length stands in FileOp.N.
type BufRef struct {
	Owner Buffer
	Data  []byte
}

// Patch is what the performer stamps into the header of a record batch before it writes it:
// base offset and leader epoch always (they lie outside the CRC), and with LogAppendTime the
// timestamp type and maximum timestamp, for which it combines a new CRC. With CreateTime it
// corrects a maximum timestamp that the producer got wrong, as Kafka does.
type Patch struct {
	Stamp       bool // false: write the bytes as they are
	AppendTime  bool // stamp MaxTimestamp as LogAppendTime
	CreateTime  bool // stamp MaxTimestamp as CreateTime; not with AppendTime
	LeaderEpoch int32
	BaseOffset  int64
	MaxStamp    int64 // milliseconds; with AppendTime or CreateTime
}

// ConnOpKind says what to do with a connection.
type ConnOpKind uint8

const (
	ConnRespond ConnOpKind = iota + 1 // fill Slot with Head and Ranges
	ConnClose                         // end the connection once earlier slots have left
	ConnPause                         // stop reading requests
	ConnResume                        // read again
	ConnSend                          // send Head as request Slot over the open link Conn; its answer is an EventResponse
	ConnDial                          // open the link Conn to the address in Head; empty: the node's other loop
)

// ConnOp is an effect on one connection, or on a link: a connection that the core opens with
// ConnDial under an id of its own (MakeLinkID). ConnSend is for links, and only between their
// EventConnOpened and their EventConnClosed; Slot counts a link's requests from 1 and is their
// correlation id. ConnClose ends a link at once: requests under way get no event of their own.
type ConnOp struct {
	Op     ConnOpKind
	Err    Errno // ConnClose: the reason, for the log
	Slot   Slot
	Conn   ConnID
	Head   Span  // bytes in Effects.Bytes, without the frame's length prefix
	Ranges Span  // in Effects.Ranges, ascending by At
	Token  Token // non-zero: report EventResponseSent when the response has left or died
}

// Range is a piece of a log that goes into a response, at position At of its Head. It names a
// segment by its file. The bytes [Off, Off+Len) are written. Those below the high watermark never
// change; what lies above it is for followers, who get a Copy.
type Range struct {
	File     FileID
	At       uint32
	Off, Len int64
	// Copy: the performer reads the bytes before it sends, because they may be cut once the response
	// has left, and what a socket has taken as a range of a file stays mutable until the peer has it.
	Copy bool
}

// JobStart asks the world to run a job and to report its result under Token.
type JobStart struct {
	Token Token
	Job   Job
}

// Effects is everything that one turn asks for. The loop owns it and reuses its slices.
type Effects struct {
	File   []FileOp
	Conn   []ConnOp
	Jobs   []JobStart
	Ranges []Range
	Bytes  []byte
	Trace  []TraceRec
	Wake   Mono // when the loop wants an EventTick; Never for not at all
}

// Reset empties e for the next turn and keeps its capacity. References are cleared.
func (e *Effects) Reset() {
	clear(e.File)
	clear(e.Jobs)
	clear(e.Trace)
	e.File, e.Conn, e.Jobs = e.File[:0], e.Conn[:0], e.Jobs[:0]
	e.Ranges, e.Bytes, e.Trace = e.Ranges[:0], e.Bytes[:0], e.Trace[:0]
	e.Wake = Never
}

// WakeBy asks for an EventTick at t or earlier.
func (e *Effects) WakeBy(t Mono) { e.Wake = min(e.Wake, t) }

// Mark returns the current end of Bytes; SpanFrom(Mark()) brackets what is appended in between.
func (e *Effects) Mark() uint32 { return uint32(len(e.Bytes)) }

// SpanFrom returns the bytes appended since start was marked.
func (e *Effects) SpanFrom(start uint32) Span { return Span{start, uint32(len(e.Bytes))} }

// TraceID is the stable number of a kind of log line; core.TraceFormat has the texts.
type TraceID uint16

// TraceRec is a log line as data, formatted outside of the loop.
type TraceRec struct {
	ID      TraceID
	A, B, C int64
	S       string
}
