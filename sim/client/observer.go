package client

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/sim"
)

// Network is what a client needs of the world's network; *sim.Network implements it.
type Network interface {
	Dial(owner sim.Owner, to sim.Place, addr string, r env.ConnReader) env.ConnWriter
}

// Observer is told what happens to a client's requests, in the order in which the client learns of
// it. The structures are the client's; what an observer wants to keep it copies, or hangs on Tag.
type Observer interface {
	// AttemptStarted is told of each request of a send, before it leaves.
	AttemptStarted(s *Send)
	// AttemptEnded is told of each request of a send, when its outcome is known.
	AttemptEnded(s *Send, a Attempt)
	// SendReturned is told when the client will not try again.
	SendReturned(s *Send)
	PollInvoked(p *Poll)
	PollReturned(p *Poll)
	ListInvoked(l *List)
	ListReturned(l *List)
	// Trouble is told of what a healthy cluster never answers, by a fixed name.
	Trouble(name string)
}

// Ending says how an attempt ended, as far as the client can tell.
type Ending uint8

const (
	Answered Ending = iota // a response came
	Lost                   // it may or may not have arrived
	NotSent                // no byte left the client
)

// Attempt is one request of a send, and how it ended.
type Attempt struct {
	Ending     Ending
	Code       kafka.ErrorCode // when Answered
	BaseOffset kafka.Offset    // kafka.NoOffset when the answer has none
}

// Send is one batch that a producer wants in one partition. Whoever makes it fills in the first
// block; the producer owns it until SendReturned.
type Send struct {
	Partition kafka.PartitionID
	Records   []Record
	Tag       any // the observer's

	// Session groups the sends whose order is promised. Of an idempotent producer it changes with
	// each producer id, otherwise with each connection.
	Session  int32
	Attempts int
	Server   Server // that the last attempt went to

	batch    []byte
	sequence kafka.Sequence
	ordinal  int
	state    sendState
	retryAt  sim.Time
	giveUpAt sim.Time
}

// Record is a record to be sent. Its bytes mean nothing to the client.
type Record struct {
	Timestamp  int64
	Key, Value []byte
}

// Source hands out sends.
type Source interface {
	// Next returns what to send now, or nil and when to ask again: sim.Never when there is nothing
	// any more.
	Next() (*Send, sim.Time)
}

// Poll is one fetch of one partition.
type Poll struct {
	Partition  kafka.PartitionID
	Assignment int32        // changes with every seek
	Position   kafka.Offset // the offset asked for
	Committed  bool         // read_committed

	Answered         bool
	Code             kafka.ErrorCode
	HighWatermark    kafka.Offset
	LastStableOffset kafka.Offset
	LogStart         kafka.Offset
	Batches          []Batch
	Records          []Fetched // those of Batches from Position on, without control records

	Tag any
}

// Batch is the header of a whole batch in a fetch response.
type Batch struct {
	Base, Last       kafka.Offset // both inclusive
	Count            int32
	Corrupt, Control bool
}

// Fetched is a record as a fetch returned it. The bytes are the observer's to keep.
type Fetched struct {
	Offset    kafka.Offset
	Timestamp int64
	Value     []byte
}

// List is one query of ListOffsets for one partition.
type List struct {
	Partition kafka.PartitionID
	Timestamp int64 // milliseconds, or one of kafka's special timestamps
	Committed bool

	Server      Server // who was asked
	Answered    bool
	Code        kafka.ErrorCode
	Offset      kafka.Offset
	AnswerStamp int64

	Tag any
}
