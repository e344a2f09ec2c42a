package record

import "stet/core/kafka"

// Header is a header of a record. A nil Value is null.
type Header struct {
	Key   string
	Value []byte
}

// Record is one record. A nil Key or Value is null.
type Record struct {
	Offset     kafka.Offset // as read; ignored by Builder
	Timestamp  int64        // milliseconds
	Attributes int8         // unused by Kafka so far
	Key, Value []byte
	Headers    []Header
}

// Records reads the records of one batch that Check accepts, in order, until yield returns false.
// The record and all it points to are valid only during the call of yield. maxDecompressed bounds
// the decompressed records, in bytes.
func (s *Scratch) Records(b []byte, maxDecompressed int64, yield func(Record) bool) Problem {
	panic("not yet")
}
