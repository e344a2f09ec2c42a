package partition

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/record"
)

// Acks is how much a producer waits for.
type Acks int8

const (
	AcksAll    Acks = -1 // every in-sync replica
	AcksNone   Acks = 0  // nothing
	AcksLeader Acks = 1  // the leader's own log
)

// Produce is one batch from a client.
type Produce struct {
	Ticket Ticket // ignored with AcksNone
	Acks   Acks
	Facts  *record.Facts
	Buf    env.BufRef // the batch
}

// Produce judges and appends a batch. When the verdict accepts, an Outcome follows, in this turn
// or later, unless the producer wants no acknowledgement. When it refuses, nothing has happened.
func (r *Replica) Produce(now env.Now, p *Produce, out *env.Effects) Verdict {
	if code := r.serves(); code != kafka.None {
		return Verdict{Code: code}
	}
	l := r.lead
	if p.Acks == AcksAll && l.underMinISR(r.config) {
		return refuse(kafka.NotEnoughReplicas, "fewer replicas in sync than min.insync.replicas")
	}
	if v := judgeBatch(r.config, p.Facts, now.WallMs); v.Code != kafka.None {
		r.Counters.Refused++
		return v
	}
	return r.append(now, p, l, out)
}

func (r *Replica) append(now env.Now, p *Produce, l *leader, out *env.Effects) Verdict {
	appended, code := r.log.Append(now, p.Facts, p.Buf, l.epoch, out)
	if code != kafka.None {
		r.Counters.Refused++
		return Verdict{Code: code}
	}
	r.count(p.Facts, appended.Duplicate)
	if p.Acks == AcksNone {
		return Verdict{}
	}
	w := waiting{
		ticket: p.Ticket, base: appended.BaseOffset, end: appended.LastOffset + 1,
		appendTimeMs: appended.LogAppendTime,
	}
	if appended.Duplicate && invariant.CanaryDuplicateAckedEarly.On() {
		r.acknowledge(w, kafka.None)
		return Verdict{}
	}
	// A duplicate waits like its original, which may not be committed yet.
	if p.Acks == AcksAll {
		r.forAll.add(w)
	} else {
		r.forLocal.add(w)
	}
	parked := r.forAll.len() + r.forLocal.len()
	r.advance(out)
	if r.forAll.len()+r.forLocal.len() == parked {
		r.Counters.Parked++
		invariant.Sometimes(true, invariant.MarkProduceParked)
	}
	return Verdict{}
}

func (r *Replica) count(f *record.Facts, duplicate bool) {
	if duplicate {
		r.Counters.Duplicates++
		return
	}
	r.Counters.BatchesIn++
	r.Counters.RecordsIn += int64(f.Count)
	r.Counters.BytesIn += int64(f.SizeBytes)
}

// serves says whether clients can be served, or what to answer them: a log that failed is
// KAFKA_STORAGE_ERROR until it is open again; one that is not there yet, or not led from here, is
// NOT_LEADER_OR_FOLLOWER, upon which clients ask for metadata and try again.
func (r *Replica) serves() kafka.ErrorCode {
	switch r.state {
	case Online:
		if r.lead == nil {
			return kafka.NotLeaderOrFollower
		}
		return kafka.None
	case Fenced, Damaged:
		return kafka.KafkaStorageError
	}
	if r.err != nil || r.Counters.Fences > 0 {
		return kafka.KafkaStorageError
	}
	return kafka.NotLeaderOrFollower
}
