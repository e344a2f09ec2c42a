package partition

import (
	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
)

// OffsetAt is an answer to ListOffsets.
type OffsetAt struct {
	Code      kafka.ErrorCode
	Offset    kafka.Offset // kafka.NoOffset: no such record
	Timestamp int64        // of the record; kafka.NoTimestamp for the ends of the log
	Epoch     kafka.LeaderEpoch
}

// Lookup is the answer to a question that had to read files.
type Lookup struct {
	Ticket Ticket
	OffsetAt
}

// lookup is a search by time that is under way.
type lookup struct {
	token  env.Token
	ticket Ticket
	epoch  kafka.LeaderEpoch // in which it was asked
}

// OffsetFor answers one partition of ListOffsets for a timestamp, which may be one of Kafka's
// special ones. With pending a Lookup follows under the ticket.
func (r *Replica) OffsetFor(timestamp int64, epoch kafka.LeaderEpoch, ticket Ticket,
	out *env.Effects,
) (answer OffsetAt, pending bool) {
	if code := r.servesAt(epoch); code != kafka.None {
		return RefusedOffset(code), false
	}
	// A new leader's high watermark lags; until it has reached the epoch's start, offsets that
	// clients see could go back (KIP-207).
	if timestamp != kafka.EarliestTimestamp && timestamp != kafka.EarliestLocalTimestamp &&
		r.highWatermark < r.lead.epochStart {
		return RefusedOffset(kafka.OffsetNotAvailable), false
	}
	switch timestamp {
	case kafka.LatestTimestamp:
		return r.end(r.LastStableOffset()), false
	case kafka.EarliestTimestamp:
		return r.end(r.log.LogStartOffset()), false
	case kafka.EarliestLocalTimestamp:
		return r.end(r.log.LocalLogStartOffset()), false
	case kafka.LatestTieredTimestamp, kafka.EarliestPendingUpload:
		return RefusedOffset(kafka.None), false // nothing is tiered
	}
	token := r.handles.NextToken()
	r.lookups = append(r.lookups, lookup{token, ticket, r.lead.epoch})
	job := r.log.FindByTime(timestamp, r.LastStableOffset(),
		int64(r.config.MaxDecompressedMessageBytes))
	out.Jobs = append(out.Jobs, env.JobStart{Token: token, Job: job})
	return OffsetAt{}, true
}

// end is the answer for an end of the log, with the epoch that a consumer may check it against.
func (r *Replica) end(offset kafka.Offset) OffsetAt {
	epoch := r.log.EpochAt(offset)
	if epoch == kafka.NoLeaderEpoch {
		epoch = r.lead.epoch
	}
	return OffsetAt{Offset: offset, Timestamp: kafka.NoTimestamp, Epoch: epoch}
}

// RefusedOffset is an answer without an offset.
func RefusedOffset(code kafka.ErrorCode) OffsetAt {
	return OffsetAt{code, kafka.NoOffset, kafka.NoTimestamp, kafka.NoLeaderEpoch}
}

// finishLookup takes the result of a search by time, if the event is one.
func (r *Replica) finishLookup(ev *env.Event) bool {
	for i, l := range r.lookups {
		if l.token != ev.Token {
			continue
		}
		r.lookups = append(r.lookups[:i], r.lookups[i+1:]...)
		r.found = append(r.found, Lookup{l.ticket, r.answer(l, ev.Res.(commitlog.TimeFound))})
		return true
	}
	return false
}

func (r *Replica) answer(l lookup, found commitlog.TimeFound) OffsetAt {
	switch {
	case r.state != Online || r.lead == nil || r.lead.epoch != l.epoch:
		return RefusedOffset(kafka.NotLeaderOrFollower)
	case found.Err != nil:
		return RefusedOffset(kafka.KafkaStorageError)
	case found.Offset == kafka.NoOffset:
		return RefusedOffset(kafka.None)
	}
	return OffsetAt{Offset: found.Offset, Timestamp: found.Timestamp, Epoch: found.Epoch}
}

// Lookups appends the answers since the last call to dst.
func (r *Replica) Lookups(dst []Lookup) []Lookup {
	dst = append(dst, r.found...)
	r.found = r.found[:0]
	return dst
}
