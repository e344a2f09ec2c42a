package partition

import (
	"fmt"

	"stet/core/kafka"
	"stet/core/record"
)

// RecordError names a record of a refused batch and what is wrong with it (KIP-467).
type RecordError struct {
	Index   int32
	Message string
}

// Verdict is what a topic's configuration says of a batch from a client. The zero value accepts.
type Verdict struct {
	Code    kafka.ErrorCode
	Message string
	Records []RecordError
}

// judgeBatch holds the facts of a client's batch against the configuration, in Kafka's order
// (ProduceRequest.validateRecords, UnifiedLog.analyzeAndValidateRecords, LogValidator). It does
// not allocate when it accepts.
func judgeBatch(c *kafka.TopicConfig, f *record.Facts, wallMs int64) Verdict {
	switch {
	case f.Problem == record.ProblemTrailing:
		return refuse(f.Problem.ErrorCode(), f.Problem.String())
	case f.BaseOffset != 0 && f.Problem == record.NoProblem:
		return refuse(kafka.InvalidRecord, "the base offset of a client's batch must be 0")
	case f.SizeBytes > c.MaxMessageBytes:
		return refuse(kafka.MessageTooLarge, fmt.Sprintf(
			"record batch of %d bytes exceeds max.message.bytes = %d", f.SizeBytes, c.MaxMessageBytes))
	}
	if v := judgeContent(c, f, wallMs); v.Code != kafka.None {
		return v
	}
	if f.SizeBytes > c.SegmentBytes {
		return refuse(kafka.RecordListTooLarge, fmt.Sprintf(
			"record batch of %d bytes exceeds segment.bytes = %d", f.SizeBytes, c.SegmentBytes))
	}
	return Verdict{}
}

func judgeContent(c *kafka.TopicConfig, f *record.Facts, wallMs int64) Verdict {
	if p := f.ClientProblem(); p != record.NoProblem {
		v := refuse(p.ErrorCode(), p.String())
		if f.ProblemIndex >= 0 {
			v.Records = []RecordError{{f.ProblemIndex, p.String()}}
		}
		return v
	}
	switch {
	case f.Attributes.IsTransactional():
		return refuse(kafka.InvalidTxnState, "transactions are not supported yet")
	case f.UncompressedBytes > int64(c.MaxDecompressedMessageBytes):
		return refuse(kafka.MessageTooLarge, record.ProblemTooLarge.String())
	}
	if v := judgeTimestamps(c, f, wallMs); v.Code != kafka.None {
		return v
	}
	if c.CleanupCompact && f.FirstUnkeyed >= 0 {
		v := refuse(kafka.InvalidRecord, "a compacted topic takes no record without a key")
		v.Records = []RecordError{{f.FirstUnkeyed, v.Message}}
		return v
	}
	return Verdict{}
}

// judgeTimestamps applies message.timestamp.before.max.ms and after.max.ms. They do not bind a
// topic whose timestamps the broker sets, nor records without a timestamp.
func judgeTimestamps(c *kafka.TopicConfig, f *record.Facts, wallMs int64) Verdict {
	if c.LogAppendTime || f.RecordMaxTimestamp == kafka.NoTimestamp {
		return Verdict{}
	}
	var records []RecordError
	if f.RecordMinTimestamp < wallMs-c.TimestampBeforeMaxMs {
		records = append(records, RecordError{f.RecordMinIndex, fmt.Sprintf(
			"timestamp %d is older than message.timestamp.before.max.ms allows", f.RecordMinTimestamp)})
	}
	if c.TimestampAfterMaxMs < f.RecordMaxTimestamp-max(0, wallMs) {
		records = append(records, RecordError{f.RecordMaxIndex, fmt.Sprintf(
			"timestamp %d is later than message.timestamp.after.max.ms allows", f.RecordMaxTimestamp)})
	}
	if records == nil {
		return Verdict{}
	}
	v := refuse(kafka.InvalidTimestamp, "one or more records have a timestamp out of range")
	v.Records = records
	return v
}

func refuse(code kafka.ErrorCode, message string) Verdict {
	return Verdict{Code: code, Message: message}
}
