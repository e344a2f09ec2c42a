package partition

import (
	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// Want is what a consumer asks of a replica.
type Want struct {
	Offset             kafka.Offset
	MaxBytes           int64
	MinOne             bool              // the first batch may be larger than MaxBytes (KIP-74)
	CurrentLeaderEpoch kafka.LeaderEpoch // kafka.NoLeaderEpoch: not known
	Tries              int               // times that this position has been looked up in vain
}

// Read is the answer to a Want, bytes below the high watermark, which never change, or to a
// FollowerFetch.
type Read struct {
	Code  kafka.ErrorCode
	Found commitlog.Found
	// Copy: a part of Found lies above the high watermark, where it may be truncated. It is sent as a
	// copy, not from the file (env.Range).
	Copy bool
	// Diverging: the follower holds what this log does not, and truncates. Nothing is found then.
	Diverging Divergence
	// StaleHighWatermark: the follower does not know of all that is committed of what it holds, and
	// would learn nothing else by waiting.
	StaleHighWatermark bool

	HighWatermark    kafka.Offset
	LastStableOffset kafka.Offset
	LogStartOffset   kafka.Offset
	// Locating: the position is being looked up. The replica reports a change when it is there.
	Locating bool
	Started  bool // the look-up was started by this call: one try
}

// located is a position whose look-up is under way.
type located struct {
	token  env.Token
	offset kafka.Offset
}

// mostTries bounds how often a position that was looked up may be missing again: other look-ups
// may have displaced it, but a file that can not be read never gives it.
const mostTries = 3

// Read answers a consumer. Whole batches are returned, from the one that contains the offset.
// A range that is sent needs a lease (Handles().Lease).
func (r *Replica) Read(w Want, out *env.Effects) Read {
	if code := r.servesAt(w.CurrentLeaderEpoch); code != kafka.None {
		return RefusedRead(code)
	}
	read := Read{
		HighWatermark: r.highWatermark, LastStableOffset: r.LastStableOffset(),
		LogStartOffset: r.log.LogStartOffset(), Diverging: NoDivergence(),
	}
	if w.Offset < read.LogStartOffset || w.Offset > r.log.Written() {
		return RefusedRead(kafka.OffsetOutOfRange)
	}
	if w.Offset >= r.highWatermark || w.MaxBytes <= 0 && !w.MinOne {
		return read
	}
	found, code := r.log.Find(w.Offset, w.MaxBytes, w.MinOne, r.highWatermark)
	if found.Locate {
		r.locate(w.Offset, w.Tries, &read, out)
		return read
	}
	if code != kafka.None {
		return RefusedRead(code)
	}
	read.Found = found
	if found.Len > 0 {
		invariant.Always(found.Start <= w.Offset, "a read starts with the batch of its offset")
		invariant.Always(found.End <= r.highWatermark, "a read ends below the high watermark")
		invariant.Sometimes(w.MinOne && found.Len > w.MaxBytes,
			invariant.MarkFetchFirstBatchOversized)
	}
	return read
}

// RefusedRead is an answer that is an error.
func RefusedRead(code kafka.ErrorCode) Read {
	return Read{
		Code: code, HighWatermark: kafka.NoOffset, LastStableOffset: kafka.NoOffset,
		LogStartOffset: kafka.NoOffset, Diverging: NoDivergence(),
	}
}

// locate starts to look a position up, unless that is under way, or has been in vain too often.
func (r *Replica) locate(offset kafka.Offset, tries int, read *Read, out *env.Effects) {
	for _, l := range r.locating {
		if l.offset == offset {
			read.Locating = true
			return
		}
	}
	if tries >= mostTries {
		*read = RefusedRead(kafka.KafkaStorageError)
		return
	}
	invariant.Sometimes(true, invariant.MarkFetchLocated)
	r.locating = append(r.locating, located{r.log.Locate(offset, out), offset})
	read.Locating, read.Started = true, true
}

func (r *Replica) finishLocate(token env.Token) {
	for i, l := range r.locating {
		if l.token == token {
			r.locating = append(r.locating[:i], r.locating[i+1:]...)
			r.changed = true
			return
		}
	}
}

// servesAt is serves, and the check of the epoch that a client believes in (KIP-320).
func (r *Replica) servesAt(epoch kafka.LeaderEpoch) kafka.ErrorCode {
	if code := r.serves(); code != kafka.None || epoch == kafka.NoLeaderEpoch {
		return code
	}
	return r.checkEpoch(epoch)
}

// checkEpoch compares the epoch that another believes in with the leader's own.
func (r *Replica) checkEpoch(epoch kafka.LeaderEpoch) kafka.ErrorCode {
	switch {
	case epoch < r.lead.epoch:
		return kafka.FencedLeaderEpoch
	case epoch > r.lead.epoch:
		return kafka.UnknownLeaderEpoch
	}
	return kafka.None
}
