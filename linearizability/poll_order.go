package linearizability

import (
	"cmp"
	"fmt"
	"slices"

	"stet/core/kafka"
)

// checkPollOrder is H8. A consumer sees every record of a partition once and in order: inside one
// poll, from the position it asked for, and between two polls of one assignment.
//
// Source: Jepsen's int-poll-skip, int-nonmonotonic-poll, poll-skip and nonmonotonic-poll.
// Cost: O(n log n).
//
// Traps. "Next" means the next offset that holds data: gaps are legal (control records,
// compaction), so a skip needs a record that is known to be there, from the final log or an
// acknowledgement. A rebalance, seek or reset begins another assignment and excuses what is
// between polls, never what is inside one. An empty answer skips nothing. Aborted records are
// left out by a read-committed poll. A loss lets a log end go back under a consumer.
func checkPollOrder(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		known := v.knownData(p)
		type assignment struct {
			client ClientID
			number int32
			final  bool
		}
		last := map[assignment]int{}
		for _, i := range v.pollsInOrder(p) {
			poll := &v.history.Polls[i]
			if len(poll.Records) == 0 {
				continue
			}
			j := pollJudge{v, p, r, known, i}
			j.inside()
			j.fromPosition()
			key := assignment{poll.Client, poll.Assignment, poll.Final}
			if before, ok := last[key]; ok {
				j.after(before)
			}
			last[key] = i
		}
	}
}

func (v *view) pollsInOrder(p *partitionView) []int {
	ordered := slices.Clone(p.polls)
	slices.SortStableFunc(ordered, func(a, b int) int {
		return cmp.Compare(v.history.Polls[a].Invoke, v.history.Polls[b].Invoke)
	})
	return slices.DeleteFunc(ordered, func(i int) bool { return v.history.Polls[i].Return == 0 })
}

// datum is a data record that is known to be, or to have been, in the log.
type datum struct {
	offset        kafka.Offset
	transactional bool
}

// knownData lists the offsets that held data when anybody could read past them: those of the
// final log, and those acknowledged that were not lost, deleted, or compacted away.
func (v *view) knownData(p *partitionView) []datum {
	var known []datum
	for _, found := range p.final.records {
		ref, ok := v.byValue[found.Value]
		known = append(known, datum{found.Offset, ok && v.history.Sends[ref.send].Transactional})
	}
	if !p.info.Compacted {
		v.acknowledgements(p, func(s sighting) {
			_, lost := p.lives.excuse(s.record.Offset, s.from)
			if !lost && s.record.Offset >= p.logStart {
				transactional := v.history.Sends[s.where.index].Transactional
				known = append(known, datum{s.record.Offset, transactional})
			}
		})
	}
	slices.SortStableFunc(known, func(a, b datum) int { return cmp.Compare(a.offset, b.offset) })
	return known
}

// pollJudge judges one poll that showed records.
type pollJudge struct {
	v     *view
	p     *partitionView
	r     *Report
	known []datum
	poll  int
}

func (j pollJudge) inside() {
	records := j.v.history.Polls[j.poll].Records
	for k := 1; k < len(records); k++ {
		j.r.checked("inside-poll", 1)
		j.judge("inside one poll", records[k-1].Offset, records[k].Offset)
	}
}

func (j pollJudge) fromPosition() {
	poll := &j.v.history.Polls[j.poll]
	j.r.checked("from-position", 1)
	j.judge("from the position asked for", poll.Position-1, poll.Records[0].Offset)
}

func (j pollJudge) after(before int) {
	previous, poll := &j.v.history.Polls[before], &j.v.history.Polls[j.poll]
	end := previous.Records[len(previous.Records)-1].Offset
	// What lay below the position may have been lost and appended anew since the consumer
	// passed it, control records included, which it passes without handing them on.
	behind := max(end+1, poll.Position)
	if j.p.lives.clamp(behind, previous.Invoke, poll.Return) < behind {
		j.r.count("polls-across-a-loss", 1)
		return
	}
	j.r.checked("between-polls", 1)
	j.judge("between polls", end, poll.Records[0].Offset, describePoll(previous))
}

// judge compares an offset with the one that was seen just before it.
func (j pollJudge) judge(where string, before, next kafka.Offset, evidence ...string) {
	poll := &j.v.history.Polls[j.poll]
	evidence = append(evidence, describePoll(poll))
	if next <= before {
		j.p.fails(j.r, fmt.Sprintf("%s, offset %d comes after %d", where, next, before),
			evidence...)
		return
	}
	if skipped, ok := j.skipped(before, next); ok {
		j.p.fails(j.r, fmt.Sprintf("%s, offset %d is skipped: %d comes after %d", where, skipped,
			next, before), evidence...)
	}
}

// skipped finds a known record strictly between two offsets that the poll should have shown.
func (j pollJudge) skipped(before, next kafka.Offset) (kafka.Offset, bool) {
	poll := &j.v.history.Polls[j.poll]
	at, _ := slices.BinarySearchFunc(j.known, before+1, func(d datum, o kafka.Offset) int {
		return cmp.Compare(d.offset, o)
	})
	for ; at < len(j.known) && j.known[at].offset < next; at++ {
		d := j.known[at]
		aborted := d.transactional && poll.Isolation == ReadCommitted
		reborn := j.p.lives.clamp(d.offset+1, poll.Invoke, Never) <= d.offset
		if !aborted && !reborn {
			return d.offset, true
		}
	}
	return 0, false
}
