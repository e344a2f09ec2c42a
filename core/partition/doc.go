// Package partition is one replica of a partition: its role, its high watermark, the requests
// that wait for it, and its way from a directory on disk to service and back.
//
// What a replica is comes apart into types: Judge holds client batches against the topic's
// configuration, Replica drives the log through its life (creating, recovering, online, fenced,
// truncating, deleting), leader and follower hold what exists only while it is one, and
// acknowledgements is the queue of produce requests that wait for the log or for the high watermark.
//
// A replica knows nothing of connections or requests. Who waits is named by a Ticket, and what
// became of it is reported through Outcomes, which the broker drains in the same turn.
//
// # Who follows whom
//
// The controller names a leader and gives it a leader epoch, which no other leader of the partition
// ever has. Lead and Follow pass that on. The leader alone gives offsets to records, and stamps each
// batch with its epoch; followers copy batches as they are. Before it serves anything, a leader notes
// in its log's epoch cache where its epoch begins. So the epoch of a record at an offset names the
// leader that put it there, and two logs that have the same epoch at the same offset agree up to
// there. All that follows rests on this.
//
// # How the high watermark moves
//
// A record is committed when nobody who may be elected is without it. The controller elects from the
// in-sync replicas (ISR), so the leader keeps the high watermark at the smallest end of all that may
// be in the ISR, and readers and producers who asked for it see only what is below.
//
// An end is what a follower said in a fetch of this leader's epoch: "I hold all below my offset, and
// the last of it is of epoch e". The leader believes it after it has compared that epoch with its own
// log (divergence, in follower_fetch.go); a fetch that is refused or diverges counts for nothing. A
// new leader knows no ends but its own: its high watermark stands still until each member has fetched
// once. It may be lower than what an earlier leader has shown, never higher than what is committed.
//
// Who may be in the ISR is not quite known. A change that the leader has proposed may have been
// granted although the answer is lost, so until the metadata say more, an expansion counts from the
// moment it is proposed and a shrink only once it is granted: the maximal ISR (isr.go, KIP-497). A
// follower that keeps up without being a member is waited for, too, or it would never catch up with
// what is committed without it (waitsFor). Below min.insync.replicas nothing is committed at all,
// whatever the producer asked for (KIP-966): then those that were members before hold all that is
// committed, and may be elected when the ISR is empty.
//
// A follower joins when its end has reached the high watermark and the start of the leader's epoch:
// a new leader's high watermark lags, but nothing above the end that it began with is committed. It
// leaves when it has not caught up for a time, or when it comes back with less than what is committed.
//
// Producers that wait are told of failure whenever the epoch changes. What passes their offset later
// may be another record.
//
// # Who may truncate what
//
// Only a follower truncates, only to where its leader's log parts from its own, and never because of
// its high watermark, which lags (KIP-101). With each fetch it names the epoch of its last record. If
// the leader's log knows that epoch, and it does not end there before the follower's end, the two
// agree. Otherwise the leader answers with the largest epoch up to that one that it has, and its end
// (KIP-279). What the follower has behind that, and behind its own end of that epoch, is not the
// leader's and goes; the next fetch compares again. Epochs in the cache that begin at the cut go even
// if no record does, or the comparison would never end (diverge, in truncation.go).
//
// Nothing that is committed is ever cut that way: the leader came from the ISR, so it holds it. The
// exception is an election from outside, which the controller reports as unclean. A follower that has
// truncated takes the leader's high watermark only afterwards; before, it would show records as
// committed that are about to go.
//
// A truncation is no edit of an open log. The log is let go (state Truncating): writes, look-ups and
// responses under way are waited for, as after a failed write; then recovery cuts the files, durably,
// before anything of the new epoch is appended. When the leader does not hold the follower's end any
// more, because its log begins behind it, the follower gives everything up and begins there
// (outOfRange).
//
// # Where to find what
//
//	leader.go           becoming and being a leader, resigning
//	highwatermark.go    the high watermark, and who is acknowledged
//	followers.go        what a leader knows of each follower
//	isr.go, proposals.go  the ISR, who joins and who leaves; insync.go tells others of it
//	follower_fetch.go   a leader's answer to a follower
//	follower.go         being a follower
//	truncation.go       cutting the log
//	rest.go             what is kept of a role while the log is not open
//	lifecycle.go, state.go  from a directory to service and back
//	produce.go, judge.go, acknowledgements.go  producers
//	fetch.go, offsets.go  consumers
package partition
