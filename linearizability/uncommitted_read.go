package linearizability

import (
	"fmt"

	"stet/core/kafka"
)

// checkUncommittedRead is H9. When its answer is delivered, a consumer is shown nothing at or above
// the true high watermark, and in read-committed nothing at or above the true last stable offset.
// The watermark that the answer states is not above the true one either.
//
// Source: ConsistentReadProperty of the KIP-966 specification. Cost: O(1) for each poll, online.
//
// Traps. The true watermark is the ghost's, not any replica's: the high watermark of a new leader
// lags legally, that of a follower may even go back. Smaller is legal, larger is not. Polls
// without a ghost are not judged, so on a live cluster this check is vacuous.
func checkUncommittedRead(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		for _, i := range p.polls {
			poll := &v.history.Polls[i]
			what, judged := uncommitted(poll)
			if judged {
				r.checked("polls-with-ghost", 1)
			}
			if what != "" {
				p.fails(r, what, describePoll(poll))
			}
		}
	}
}

// uncommitted says how a poll shows more than is committed, "" when it does not, and whether the
// history knows enough to judge it.
func uncommitted(poll *Poll) (what string, judged bool) {
	ghost := poll.Ghost
	if ghost == nil || ghost.HighWatermark < 0 || poll.Return == 0 || poll.Code != kafka.None {
		return "", false
	}
	bound, name := ghost.HighWatermark, "high watermark"
	if poll.Isolation == ReadCommitted && ghost.LastStableOffset >= 0 {
		bound, name = ghost.LastStableOffset, "last stable offset"
	}
	for _, record := range poll.Records {
		if record.Offset >= bound {
			return fmt.Sprintf("offset %d is shown, the true %s is %d", record.Offset, name,
				bound), true
		}
	}
	if poll.HighWatermark > ghost.HighWatermark {
		return fmt.Sprintf("high watermark %d is answered, the true one is %d",
			poll.HighWatermark, ghost.HighWatermark), true
	}
	return "", true
}
