package record

import "stet/core/kafka"

// Problem is what is wrong with a batch, whatever the configuration. Zero is nothing.
type Problem uint8

const (
	NoProblem            Problem = iota
	ProblemEmpty                 // no bytes at all
	ProblemTooShort              // fewer bytes than a header, or than the header announces
	ProblemLength                // batchLength cannot be true
	ProblemTrailing              // bytes, or another batch, after the first batch
	ProblemMagic                 // not format version 2
	ProblemCRC                   // the checksum does not match
	ProblemCodec                 // the codec is not known
	ProblemCompression           // the records do not decompress
	ProblemTooLarge              // the records decompress to more than the limit
	ProblemRecord                // a record breaks the format, or bytes follow the last
	ProblemNoRecords             // count or offset range is not positive
	ProblemCount                 // count and lastOffsetDelta differ
	ProblemInnerOffsets          // the records' offset deltas are not 0, 1, 2, ...
	ProblemControl               // a control batch; only for clients
	ProblemTimestampType         // LogAppendTime; only for clients
	ProblemSequence              // a producer id without a sequence; only for clients
	problemCount
)

// String says what is wrong, in the words that logs and clients see.
func (p Problem) String() string {
	switch p {
	case NoProblem:
		return "no problem"
	case ProblemEmpty:
		return "no record batch"
	case ProblemTooShort:
		return "record batch is cut off"
	case ProblemLength:
		return "record batch length is impossible"
	case ProblemTrailing:
		return "more than one record batch"
	case ProblemMagic:
		return "record batch is not of magic version 2"
	case ProblemCRC:
		return "record batch is corrupt: checksum does not match"
	case ProblemCodec:
		return "unknown compression codec"
	case ProblemCompression:
		return "records do not decompress"
	case ProblemTooLarge:
		return "records decompress to more than the limit"
	}
	return p.recordString()
}

func (p Problem) recordString() string {
	switch p {
	case ProblemRecord:
		return "a record breaks the format"
	case ProblemNoRecords:
		return "record batch has no records"
	case ProblemCount:
		return "record count does not match the offset range"
	case ProblemInnerOffsets:
		return "record offsets are not consecutive from zero"
	case ProblemControl:
		return "clients may not write control batches"
	case ProblemTimestampType:
		return "clients may not set the timestamp type to LogAppendTime"
	case ProblemSequence:
		return "record batch has a producer id but no sequence"
	}
	return "unknown problem"
}

// ErrorCode is what Kafka answers to a produce request with the problem (ProduceRequest's
// validateRecords and LogValidator).
func (p Problem) ErrorCode() kafka.ErrorCode {
	switch p {
	case NoProblem:
		return kafka.None
	case ProblemTooShort, ProblemLength, ProblemCRC:
		return kafka.CorruptMessage
	case ProblemCodec:
		return kafka.UnsupportedCompressionType
	case ProblemTooLarge:
		return kafka.MessageTooLarge
	case ProblemTimestampType:
		return kafka.InvalidTimestamp
	}
	return kafka.InvalidRecord
}
