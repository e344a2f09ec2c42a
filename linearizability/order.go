package linearizability

import (
	"cmp"
	"slices"

	"stet/core/kafka"
)

// order is the history of one partition reduced to what its linearization depends on. Because
// Kafka answers with offsets, the linearization order of the appends is known: it is offset order.
// Contents have been compared by H2, so they are gone here.
type order struct {
	appends []appendOp // by base offset
	reads   []readOp   // in no particular order
}

// appendOp is an append whose place in the log is known. Its interval is [call, ret].
type appendOp struct {
	base      kafka.Offset
	count     int
	call, ret Step // ret is Never when no answer bounds it
	// weak says that the answer may come before the high watermark has passed the record
	// (acks=1 and acks=0), so that a strict read after the answer need not show it.
	weak  bool
	where source
}

// readOp is an observation of the end of the log: every offset below end had been appended when it
// returned.
type readOp struct {
	end       kafka.Offset
	call, ret Step
	// strict says that end was the end of the log, not just at most that: ListOffsets latest by
	// the current leader. A fetch may legally be stale.
	strict bool
	where  source
}

func newOrder(v *view, p *partitionView) order {
	o := order{appends: resolveAppends(v, p)}
	for _, i := range p.polls {
		if read, ok := pollEnd(p, &v.history.Polls[i], i); ok {
			o.reads = append(o.reads, read)
		}
	}
	for _, i := range p.lists {
		if read, ok := listedEnd(p, &v.history.Lists[i], i); ok {
			o.reads = append(o.reads, read)
		}
	}
	return o
}

// resolveAppends places every append that is known to have happened, whatever its client learnt:
// those found in the final log, and those acknowledged at an offset that the final log no longer
// has. An unknown outcome that is found nowhere did not happen, as far as anyone can tell.
func resolveAppends(v *view, p *partitionView) []appendOp {
	placed := make(map[recordRef]bool)
	appends := appendsInLog(v, p, placed)
	for _, i := range p.sends {
		appends = appendMissing(v, p, i, placed, appends)
	}
	slices.SortStableFunc(appends, func(a, b appendOp) int {
		return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.call, b.call))
	})
	return appends
}

// appendsInLog makes an append of each run of records in the final log that one send appended
// together, and marks in placed those that stand where they were acknowledged.
func appendsInLog(v *view, p *partitionView, placed map[recordRef]bool) []appendOp {
	var appends []appendOp
	var last recordRef
	var next kafka.Offset
	for _, found := range p.final.records {
		ref, ok := v.byValue[found.Value]
		if !ok || v.history.Sends[ref.send].Partition != p.name {
			continue // H5's
		}
		acknowledged := v.acknowledgedAt(ref, found.Offset)
		if acknowledged {
			placed[ref] = true
		}
		follows := found.Offset == next && ref.send == last.send && ref.record == last.record+1
		if follows && len(appends) > 0 {
			appends[len(appends)-1].count++
		} else {
			appends = append(appends, v.newAppend(ref.send, found.Offset, acknowledged))
		}
		last, next = ref, found.Offset+1
	}
	return appends
}

func (v *view) acknowledgedAt(ref recordRef, offset kafka.Offset) bool {
	base := v.bases[ref.send]
	return base >= 0 && offset == base+kafka.Offset(ref.record)
}

// newAppend makes an append of one record. Only an answer that names this offset bounds it: a copy
// elsewhere may have been appended at any later time by a retry.
func (v *view) newAppend(send int, base kafka.Offset, acknowledged bool) appendOp {
	s := &v.history.Sends[send]
	op := appendOp{
		base: base, count: 1, call: s.Invoke, ret: Never,
		weak: !s.mustSurvive(), where: source{fromSend, send},
	}
	if acknowledged {
		op.ret = orNever(s.Return)
	}
	return op
}

// appendMissing adds the acknowledged records that the final log does not have where they were
// acknowledged: deleted legally, or lost. Those that are excused are left out, and so are weak
// acknowledgements of replicated partitions, which promise nothing.
func appendMissing(
	v *view, p *partitionView, send int, placed map[recordRef]bool, appends []appendOp,
) []appendOp {
	s, base := &v.history.Sends[send], v.bases[send]
	if base < 0 || !s.mustSurvive() && p.info.Replicas != 1 {
		return appends
	}
	for k := range s.Records {
		offset := base + kafka.Offset(k)
		_, lost := p.lives.excuse(offset, s.Invoke)
		if lost || placed[recordRef{send, k}] {
			continue
		}
		appends = append(appends, v.newAppend(send, offset, true))
	}
	return appends
}

// pollEnd gives what a poll proves of the end of the log: everything below its high watermark, and
// below its last record, was there.
func pollEnd(p *partitionView, poll *Poll, index int) (readOp, bool) {
	if poll.Return == 0 || poll.Code != kafka.None {
		return readOp{}, false
	}
	end := poll.HighWatermark
	if n := len(poll.Records); n > 0 {
		end = max(end, poll.Records[n-1].Offset+1)
	}
	end = p.lives.clamp(end, poll.Invoke, Never)
	return readOp{end, poll.Invoke, poll.Return, false, source{fromPoll, index}}, end > 0
}

// listedEnd gives what a ListOffsets latest proves. The answer of a deposed leader may be old, that
// of a read-committed query stops at an open transaction, and one that a loss overtook may be
// larger than the log is now: those are judged as stale reads are.
func listedEnd(p *partitionView, l *ListOffsets, index int) (readOp, bool) {
	if l.Return == 0 || l.Code != kafka.None || l.Timestamp != kafka.LatestTimestamp {
		return readOp{}, false
	}
	end := p.lives.clamp(l.Offset, l.Invoke, Never)
	strict := !l.Deposed && l.Isolation == ReadUncommitted && end == l.Offset
	return readOp{end, l.Invoke, l.Return, strict, source{fromList, index}}, end > 0 || strict
}
