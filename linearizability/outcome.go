package linearizability

import "stet/core/kafka"

// Outcome is what a client may conclude from how a send, or one attempt of it, ended.
type Outcome string

// The outcomes. Wrong classes are the main source of false alarms and of blindness alike, so there
// is one table, ClassifyAttempt, and everything goes through it.
const (
	Ok      Outcome = "ok"      // appended; for acks=all it stands
	Fail    Outcome = "fail"    // not appended, and never will be
	Unknown Outcome = "unknown" // either
)

// ClassifyAttempt gives the outcome of one attempt of a send. mayHaveAppended says that an earlier
// attempt of the same send could have been appended: then no refusal of this attempt makes the
// send a failure.
//
// The default is unknown: a code earns its place among the failures only by being checked before
// the append (Kafka's Partition.appendRecordsToLeader and the validation before it).
func ClassifyAttempt(a Attempt, acks int16, mayHaveAppended bool) Outcome {
	switch {
	case a.Ending == Answered && a.Code == kafka.None && acks != 0:
		return Ok
	case mayHaveAppended:
		return Unknown
	case a.Ending == NotSent:
		return Fail
	case a.Ending == Answered && refusedBeforeAppend(a.Code):
		return Fail
	}
	// With acks=0 nothing is ever answered, so the best that is known is that it left.
	return Unknown
}

// refusedBeforeAppend lists the codes that a broker gives only before it appends.
//
// Not among them, on purpose: NOT_LEADER_OR_FOLLOWER, which DelayedProduce also gives after the
// append when leadership has moved; NOT_ENOUGH_REPLICAS_AFTER_APPEND and REQUEST_TIMED_OUT, which
// mean appended and not yet replicated; OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID and
// DUPLICATE_SEQUENCE_NUMBER, which may answer a retry of something that is in the log;
// KAFKA_STORAGE_ERROR, whose write may have reached the disk; and UNKNOWN_SERVER_ERROR.
//
// UNKNOWN_TOPIC_OR_PARTITION is among them although it also answers a parked request whose topic
// is deleted under it: the high watermark had not reached its records, so no committed read can
// have shown them, and now none will.
func refusedBeforeAppend(code kafka.ErrorCode) bool {
	switch code {
	case kafka.NotEnoughReplicas,
		kafka.MessageTooLarge, kafka.RecordListTooLarge,
		kafka.UnknownTopicOrPartition, kafka.UnknownTopicID, kafka.InconsistentTopicID,
		kafka.TopicAuthorizationFailed, kafka.ClusterAuthorizationFailed,
		kafka.TransactionalIDAuthorizationFailed,
		kafka.CorruptMessage, kafka.InvalidRecord, kafka.InvalidTimestamp, kafka.InvalidRequest,
		kafka.InvalidRequiredAcks, kafka.InvalidTopicException,
		kafka.UnsupportedVersion, kafka.UnsupportedForMessageFormat,
		kafka.UnsupportedCompressionType,
		kafka.InvalidProducerEpoch, kafka.ProducerFenced, kafka.InvalidProducerIDMapping,
		kafka.InvalidTxnState, kafka.PolicyViolation:
		return true
	}
	return false
}

// Outcome classifies the send by its attempts. The offset is that of the first record when the
// outcome is ok and the answer gave one, and kafka.NoOffset otherwise.
func (s *Send) Outcome() (Outcome, kafka.Offset) {
	if len(s.Attempts) == 0 {
		return Unknown, kafka.NoOffset // in flight when the run ended
	}
	outcome, mayHaveAppended := Fail, false
	for _, a := range s.Attempts {
		outcome = ClassifyAttempt(a, s.Acks, mayHaveAppended)
		if outcome == Ok {
			return Ok, a.BaseOffset
		}
		mayHaveAppended = mayHaveAppended || outcome == Unknown
	}
	if s.Return == 0 {
		return Unknown, kafka.NoOffset // another attempt may be under way
	}
	return outcome, kafka.NoOffset
}

// mustSurvive says whether the send is under promise P1: only acks=all is. Answers to acks=0 and
// acks=1 stay in the checks of offsets, order and garbage, never among what must be there.
func (s *Send) mustSurvive() bool { return s.Acks == -1 }

// mayDuplicate says whether the promise allows several copies: a client without idempotence that
// retried. A send that has not returned may have another attempt under way.
func (s *Send) mayDuplicate() bool {
	attempts := len(s.Attempts)
	if s.Return == 0 {
		attempts++
	}
	return !s.Idempotent && attempts > 1
}
