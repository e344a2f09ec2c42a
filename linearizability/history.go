package linearizability

import "stet/core/kafka"

// History is what the clients of one run did and saw, in the order in which it was recorded.
// A recorder appends an operation when it returns, and the open ones at the end of the run: a send
// that is left out makes its records look like garbage.
type History struct {
	// Scenario and Seed say where the history comes from; no check reads them.
	Scenario string
	Seed     uint64

	// Partitions tells what is known of partitions beforehand. One that is not listed starts at
	// offset 0, is not compacted and has an unknown number of replicas.
	Partitions []PartitionInfo

	Sends []Send
	Polls []Poll
	Lists []ListOffsets
	Dumps []Dump

	// Excuses and Deletions come from whoever knows what was done to the system.
	Excuses   []Excuse
	Deletions []Deletion
}

// PartitionInfo is what a run knows of a partition beforehand.
type PartitionInfo struct {
	Partition Partition `json:"partition"`

	// FirstOffset is where the log started. Most logs start at 0.
	FirstOffset kafka.Offset `json:"first,omitempty"`

	// Replicas is the replication factor; 0 when unknown. With one replica an acks=1 answer binds
	// its offset as acks=all does; with more the leader's tail may be truncated legally.
	Replicas int `json:"replicas,omitempty"`

	// Compacted says that records may vanish from the middle of the log.
	Compacted bool `json:"compacted,omitempty"`

	// Refused says that at the end of the run the partition rightly refuses to serve, because a
	// fault of the scenario corrupted what was synced. Its records are unseen (H12), not lost: a
	// dump of the files still has to show those that no excuse covers.
	Refused bool `json:"refused,omitempty"`
}

// Send is one Produce of one batch to one partition, with all attempts that the client made before
// it gave an answer to its caller. How it ended is not a field: Outcome classifies the attempts.
type Send struct {
	Client    ClientID  `json:"client"`
	Partition Partition `json:"partition"`

	// Session groups the sends of a client whose order in a partition is promised (H7): one
	// producer id and epoch of an idempotent producer, or one connection of a producer that does
	// not retry. A client that reconnects, or is given another epoch, starts another session.
	Session int32 `json:"session,omitempty"`

	Acks int16 `json:"acks"` // 0, 1 or -1 for all

	// Idempotent says that retries can not duplicate: the promise that H3 checks.
	Idempotent bool `json:"idempotent,omitempty"`
	// Transactional records may be aborted, so read-committed polls may legally leave them out.
	Transactional bool `json:"transactional,omitempty"`

	Invoke Step `json:"invoke"`
	Return Step `json:"return,omitempty"` // 0: never returned

	Records  []Value   `json:"records"` // in batch order
	Attempts []Attempt `json:"attempts,omitempty"`
}

// Attempt is one request of a send, and how it ended.
type Attempt struct {
	Ending Ending          `json:"ending"`
	Code   kafka.ErrorCode `json:"code,omitempty"` // when Ending is Answered
	// BaseOffset is the answer's offset of the batch's first record, -1 when it gave none.
	BaseOffset kafka.Offset `json:"base"`
}

// Ending says how an attempt ended, as far as the client can tell.
type Ending string

// The endings of an attempt.
const (
	Answered Ending = "answered" // a response came back
	Lost     Ending = "lost"     // timeout, disconnect, crash of the client: it may have arrived
	NotSent  Ending = "not-sent" // no byte left the client
)

// Isolation is the isolation level of a fetch or ListOffsets; the values are the protocol's.
type Isolation int8

// The isolation levels.
const (
	ReadUncommitted Isolation = 0
	ReadCommitted   Isolation = 1
)

// Observed is a record as somebody saw it.
type Observed struct {
	Offset    kafka.Offset `json:"offset"`
	Value     Value        `json:"value"`
	Timestamp int64        `json:"timestamp"` // milliseconds, -1 when it has none
}

// Batch is the header of a record batch in a fetch response.
type Batch struct {
	Base    kafka.Offset `json:"base"`
	Last    kafka.Offset `json:"last"` // inclusive
	Count   int32        `json:"count"`
	Corrupt bool         `json:"corrupt,omitempty"` // CRC or structure does not hold
	Control bool         `json:"control,omitempty"`
}

// Ghost is what the simulator knows to be true at the step at which a response is delivered; if a
// loss lowered a watermark while the response was under way, what was true before it. An offset
// that it does not know is kafka.NoOffset. Offsets are ends: exclusive.
type Ghost struct {
	LogStart         kafka.Offset `json:"log_start"`
	LastStableOffset kafka.Offset `json:"last_stable_offset"`
	HighWatermark    kafka.Offset `json:"high_watermark"`
}

// Poll is one fetch of one partition by a consumer, and what it was shown.
type Poll struct {
	Client    ClientID  `json:"client"`
	Partition Partition `json:"partition"`

	// Assignment groups the polls of a client on a partition that must continue each other (H8).
	// A seek, a rebalance, a reset and a restart of the consumer start another.
	Assignment int32 `json:"assignment,omitempty"`

	Isolation Isolation    `json:"isolation,omitempty"`
	Position  kafka.Offset `json:"position"` // the fetch offset asked for

	Invoke Step `json:"invoke"`
	Return Step `json:"return,omitempty"` // 0: never returned

	Code kafka.ErrorCode `json:"code,omitempty"`

	// The watermarks as answered; kafka.NoOffset where the answer has none.
	HighWatermark    kafka.Offset `json:"high_watermark"`
	LastStableOffset kafka.Offset `json:"last_stable_offset"`
	LogStart         kafka.Offset `json:"log_start"`

	// Batches are the whole batches of the answer, in its order. A last partial batch, which Kafka
	// may send and a client drops, is left out. Nil when the client does not keep them.
	Batches []Batch `json:"batches,omitempty"`

	// Records are the data records that the client hands on: those of Batches from Position on,
	// without control records and without aborted ones.
	Records []Observed `json:"records,omitempty"`

	// Final marks the reads after heal and quiesce, by a fresh consumer from the log's start.
	Final bool `json:"final,omitempty"`

	Ghost *Ghost `json:"ghost,omitempty"`
}

// ListOffsets is one query for an offset by time, or by one of the special timestamps.
type ListOffsets struct {
	Client    ClientID  `json:"client"`
	Partition Partition `json:"partition"`
	Isolation Isolation `json:"isolation,omitempty"`

	Invoke Step `json:"invoke"`
	Return Step `json:"return,omitempty"` // 0: never returned

	// Timestamp is what was asked: milliseconds, or kafka.LatestTimestamp and its like.
	Timestamp int64 `json:"timestamp"`

	Code        kafka.ErrorCode `json:"code,omitempty"`
	Offset      kafka.Offset    `json:"offset"`       // -1: no such record
	AnswerStamp int64           `json:"answer_stamp"` // the record's timestamp, -1 when none

	// Deposed says that the broker that answered was no longer the leader: its answer may be old.
	Deposed bool `json:"deposed,omitempty"`

	Ghost *Ghost `json:"ghost,omitempty"`
}

// Dump is the whole log of one replica at the end of a run.
type Dump struct {
	Partition Partition      `json:"partition"`
	Replica   kafka.BrokerID `json:"replica"`
	Step      Step           `json:"step"`
	Leader    bool           `json:"leader,omitempty"`

	LogStart      kafka.Offset `json:"log_start"`
	HighWatermark kafka.Offset `json:"high_watermark"` // -1 when unknown: all is committed
	LogEnd        kafka.Offset `json:"log_end"`

	Records []Observed `json:"records"` // data records, in log order
}

// Excuse says that at Step a fault that the promise does not cover took the records at the offsets
// [From, To) of a partition. It exempts them from H1 and H12, and from nothing else: H2 and H3
// let an offset or a value be bound anew only because, and only where, an excuse says that the old
// record is gone. Excused records are counted by reason.
type Excuse struct {
	Partition Partition    `json:"partition"`
	Step      Step         `json:"step"`
	From      kafka.Offset `json:"from"`
	To        kafka.Offset `json:"to"` // -1: everything from From on
	Reason    string       `json:"reason"`
}

// covers says whether the excuse took what was at the offset.
func (e Excuse) covers(offset kafka.Offset) bool {
	return e.From <= offset && (e.To < 0 || offset < e.To)
}

// Deletion says that from Step on, retention or DeleteRecords may have moved the log start up to
// LogStart. Records below it may be gone, and must not be missed.
type Deletion struct {
	Partition Partition    `json:"partition"`
	Step      Step         `json:"step"`
	LogStart  kafka.Offset `json:"log_start"`
}

// Abandoned is the poll as it is recorded when its answer never came: nothing was seen.
func (p *Poll) Abandoned() *Poll {
	return &Poll{
		Client: p.Client, Partition: p.Partition, Assignment: p.Assignment,
		Isolation: p.Isolation, Position: p.Position, Invoke: p.Invoke,
		HighWatermark: kafka.NoOffset, LastStableOffset: kafka.NoOffset,
		LogStart: kafka.NoOffset, Final: p.Final,
	}
}
