package quorum

// Progress is what an Advance brought. All of it is valid until the next call of Advance.
type Progress struct {
	// Installed is a snapshot of another voter that replaced the log. The application loads it
	// before anything that follows.
	Installed *Installed
	// Committed are entries in order, each once. They are durable.
	Committed []Entry
	// Messages are for other voters. They may be lost, delayed and reordered.
	Messages []Message
	// Reads are confirmed: this voter still led after Read was called.
	Reads []Read
	// Fetch asks for a piece of a snapshot; nil for none. It is asked again if nothing comes.
	Fetch *SnapshotFetch
}

// Message is for another voter, which takes Data with Receive.
type Message struct {
	To   uint64
	Data []byte
}

// Read is the answer to a call of Read: a state as of Index or later shows all that was committed
// when it was called.
type Read struct{ ID, Index uint64 }

// Installed is a snapshot that came from another voter.
type Installed struct {
	At   Position
	Body []byte // as the application of the other voter made it; empty for the empty state
}

// SnapshotFetch wants the bytes of a snapshot file from Offset on.
type SnapshotFetch struct {
	From   uint64 // the voter that has it
	At     Position
	Offset int64
}

// SnapshotChunk is the answer to a SnapshotFetch.
type SnapshotChunk struct {
	At     Position
	Offset int64
	Data   []byte
	Size   int64 // of the whole file
	Gone   bool  // the voter does not have it any more
}

// SnapshotPart is the result of the job that ReadSnapshot starts.
type SnapshotPart struct {
	At     Position
	Offset int64
	Data   []byte
	Size   int64 // of the whole file
	Err    error // it can not be read; nil in a recording
	Gone   bool  // also set if it can not be read
}
