package linearizability

import (
	"fmt"

	"stet/core/kafka"
)

// checkFetchForm is H10. An answer to a fetch is well-formed: log start <= last stable offset <=
// high watermark; batches are whole, in order, and do not overlap; the first holds or follows the
// position asked for and does not lie below the log start; nothing is at or above the high
// watermark, nor in read-committed the last stable offset; each record lies in a batch.
//
// Source: KAFKA-9835 and KAFKA-9807. Cost: O(records), online.
//
// Traps. The first batch may begin below the position: brokers send whole batches. The last batch
// may be cut by the size limit, and the client drops it before it gets here. Watermarks that an
// answer does not have are -1. An answer with an error carries nothing to judge.
func checkFetchForm(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		for _, i := range p.polls {
			poll := &v.history.Polls[i]
			if poll.Return == 0 || poll.Code != kafka.None {
				continue
			}
			r.checked("answers", 1)
			r.count("batches", int64(len(poll.Batches)))
			if what := malformedFetch(poll); what != "" {
				p.fails(r, what, describePoll(poll))
			}
		}
	}
}

// malformedFetch says what is wrong with the answer, "" when nothing is.
func malformedFetch(poll *Poll) string {
	for _, judge := range []func(*Poll) string{
		wrongWatermarks, wrongBatches, wrongFirstBatch, wrongRecords,
	} {
		if what := judge(poll); what != "" {
			return what
		}
	}
	return ""
}

func wrongWatermarks(poll *Poll) string {
	start, stable, high := poll.LogStart, poll.LastStableOffset, poll.HighWatermark
	switch {
	case start >= 0 && stable >= 0 && start > stable:
		return fmt.Sprintf("log start %d is above last stable offset %d", start, stable)
	case stable >= 0 && high >= 0 && stable > high:
		return fmt.Sprintf("last stable offset %d is above high watermark %d", stable, high)
	case start >= 0 && high >= 0 && start > high:
		return fmt.Sprintf("log start %d is above high watermark %d", start, high)
	}
	return ""
}

// fetchBound is the end of what the answer may show, by its own words; -1 when it does not say.
func fetchBound(poll *Poll) kafka.Offset {
	if poll.Isolation == ReadCommitted && poll.LastStableOffset >= 0 {
		return poll.LastStableOffset
	}
	return poll.HighWatermark
}

func wrongBatches(poll *Poll) string {
	bound, next := fetchBound(poll), kafka.Offset(0)
	for k, b := range poll.Batches {
		switch {
		case b.Corrupt:
			return fmt.Sprintf("batch %d at offset %d is corrupt", k, b.Base)
		case b.Last < b.Base || b.Count < 0 || kafka.Offset(b.Count) > b.Last-b.Base+1:
			return fmt.Sprintf("batch %d has %d records in offsets [%d..%d]", k, b.Count, b.Base,
				b.Last)
		case b.Base < next:
			return fmt.Sprintf("batch %d begins at offset %d, the one before ends at %d", k,
				b.Base, next)
		case bound >= 0 && b.Last >= bound:
			return fmt.Sprintf("batch %d ends at offset %d, at or above the bound %d", k, b.Last,
				bound)
		}
		next = b.Last + 1
	}
	return ""
}

func wrongFirstBatch(poll *Poll) string {
	if len(poll.Batches) == 0 {
		return ""
	}
	first := poll.Batches[0]
	if first.Last < poll.Position {
		return fmt.Sprintf("the first batch ends at offset %d, below the position %d", first.Last,
			poll.Position)
	}
	if poll.LogStart >= 0 && first.Last < poll.LogStart {
		return fmt.Sprintf("the first batch ends at offset %d, below the log start %d", first.Last,
			poll.LogStart)
	}
	return ""
}

func wrongRecords(poll *Poll) string {
	bound, batch := fetchBound(poll), 0
	for k, record := range poll.Records {
		if k > 0 && record.Offset <= poll.Records[k-1].Offset {
			return fmt.Sprintf("offset %d comes after %d", record.Offset, poll.Records[k-1].Offset)
		}
		if bound >= 0 && record.Offset >= bound {
			return fmt.Sprintf("offset %d is at or above the bound %d", record.Offset, bound)
		}
		for batch < len(poll.Batches) && poll.Batches[batch].Last < record.Offset {
			batch++
		}
		if poll.Batches == nil {
			continue
		}
		if batch == len(poll.Batches) || record.Offset < poll.Batches[batch].Base {
			return fmt.Sprintf("offset %d lies in no batch of the answer", record.Offset)
		}
	}
	return ""
}
