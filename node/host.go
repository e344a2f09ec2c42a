package node

import "stet/core/env"

// Host is what a world gives to the assembly.
type Host interface {
	// Now reads the node's clocks.
	Now() env.Now
	// Disk is the node's storage. Calls block, as env.Disk says.
	Disk() env.Disk
	// Worker lends a Worker to one entry into the node, until its Finish. own is the connection
	// that the entry comes from, whose sends may block it; nil for none.
	Worker(own Work) Worker
	// WakeAt asks for l.Tick at the given time. A later call replaces an earlier one; env.Never
	// takes it back.
	WakeAt(l *Loop, at env.Mono)
	// Dial opens a connection to host:port for d. It returns at once and calls d later, from any
	// thread, one call at a time: Opened if the connection stands, frames, and Closed.
	Dial(addr string, d env.Dialed)
	// Log passes on a line that a turn traced. It must not block for long.
	Log(l *Loop, rec env.TraceRec)
	// Changed is told, inside a turn, when the node's status has changed.
	Changed(s Status)
}

// Status is what the outside needs to know of a node's life.
type Status struct {
	Ready     bool   // clients are answered in full
	Stopped   bool   // a clean stop is complete
	ClusterID string // once known
	Fatal     error  // why the node can not go on
}

// Worker carries one entry into the node to its end. It is used by one thread at a time.
type Worker interface {
	// Runnable is called when l has events and nobody runs it; whoever implements it sees to it
	// that l.Run is called once.
	Runnable(l *Loop)
	// Ready is called when w has become runnable; w.Run must be called once.
	Ready(w Work)
	// Finish ends the entry: production does all that is still pending and takes the worker back.
	// It is called deferred, so that production can report a broken assertion and stop.
	Finish()
}

// Work is something that a turn made runnable: a file queue to drain, responses to send, a job.
type Work interface {
	// Run does the work or a fair part of it. It calls w.Ready(itself) if there is more.
	Run(w Worker)
	// Kind says what it is, so that a world can decide where to run it.
	Kind() WorkKind
}

// WorkKind classifies Work by how long it may block.
type WorkKind uint8

const (
	WorkWrite WorkKind = iota // writes into the page cache: short
	WorkSlow                  // syncs, creates, truncates: milliseconds
	WorkSend                  // sends responses: as long as the peer likes
	WorkJob                   // a job: as long as it takes
	WorkLink                  // sends requests, or passes frames between loops: as WorkSend
)
