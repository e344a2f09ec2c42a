package linearizability

import (
	"cmp"
	"maps"
	"slices"

	"stet/core/kafka"
)

// recordRef names one record of a history: the i-th of a send.
type recordRef struct{ send, record int }

// view is a history indexed for the checkers. It is built once and not changed after.
type view struct {
	history *History

	outcomes []Outcome      // by send
	bases    []kafka.Offset // by send; NoOffset unless the outcome is ok and the offset was told
	byValue  map[Value]recordRef

	partitions []*partitionView // in the order of comparePartitions

	acknowledged int64
	excused      map[string]int64 // records by reason
}

// partitionView is the part of a history that concerns one partition. The integers are indexes
// into the history's slices, in its order.
type partitionView struct {
	name  Partition
	info  PartitionInfo
	sends []int
	polls []int
	lists []int
	dumps []int

	lives     lives
	deletions []Deletion
	// logStart is the highest offset up to which records were legally deleted.
	logStart kafka.Offset

	final finalLog
	order order
}

func newView(h *History) *view {
	v := &view{
		history: h,
		byValue: make(map[Value]recordRef, len(h.Sends)),
		excused: map[string]int64{},
	}
	v.classifySends()
	v.splitByPartition()
	for _, p := range v.partitions {
		p.final = newFinalLog(h, p)
		p.order = newOrder(v, p)
		v.countExcused(p)
	}
	return v
}

func (v *view) classifySends() {
	for i := range v.history.Sends {
		s := &v.history.Sends[i]
		outcome, base := s.Outcome()
		v.outcomes = append(v.outcomes, outcome)
		v.bases = append(v.bases, base)
		for k, value := range s.Records {
			v.byValue[value] = recordRef{i, k}
		}
	}
}

func (v *view) splitByPartition() {
	h, found := v.history, map[Partition]*partitionView{}
	at := func(name Partition) *partitionView {
		p := found[name]
		if p == nil {
			p = &partitionView{name: name, info: PartitionInfo{Partition: name}}
			found[name] = p
		}
		return p
	}
	for _, info := range h.Partitions {
		at(info.Partition).info = info
	}
	for i := range h.Sends {
		p := at(h.Sends[i].Partition)
		p.sends = append(p.sends, i)
	}
	for i := range h.Polls {
		p := at(h.Polls[i].Partition)
		p.polls = append(p.polls, i)
	}
	for i := range h.Lists {
		p := at(h.Lists[i].Partition)
		p.lists = append(p.lists, i)
	}
	for i := range h.Dumps {
		p := at(h.Dumps[i].Partition)
		p.dumps = append(p.dumps, i)
	}
	for _, e := range h.Excuses {
		at(e.Partition).lives.add(e)
	}
	for _, d := range h.Deletions {
		p := at(d.Partition)
		p.deletions = append(p.deletions, d)
	}
	v.partitions = slices.SortedFunc(maps.Values(found), func(a, b *partitionView) int {
		return comparePartitions(a.name, b.name)
	})
	for _, p := range v.partitions {
		p.logStart = p.logStartAt(Never)
	}
}

// logStartAt gives the highest legal log start at a step.
func (p *partitionView) logStartAt(step Step) kafka.Offset {
	start := p.info.FirstOffset
	for _, d := range p.deletions {
		if d.Step <= step {
			start = max(start, d.LogStart)
		}
	}
	return start
}

// fate is what became of an acknowledged record.
type fate uint8

const (
	stands   fate = iota // it is in the final log where it was acknowledged
	deleted              // retention, DeleteRecords or compaction may have taken it
	excused              // a fault outside the promise took it
	missing              // it is not there
	unjudged             // the history has no final log, or the answer gave no offset
)

// fateOf says what became of a record of a send that was answered ok. The excuse is set only
// when the fate is excused.
func (v *view) fateOf(p *partitionView, send, record int) (fate, Excuse) {
	s, base := &v.history.Sends[send], v.bases[send]
	if base < 0 {
		return unjudged, Excuse{}
	}
	offset := base + kafka.Offset(record)
	got, ok := p.final.at[offset]
	switch {
	case ok && got.Value == s.Records[record] && p.final.committed(offset):
		return stands, Excuse{}
	// Trap: with retention or DeleteRecords a missing record is legal below the log start that
	// the ghost knows of, and only below that one, whatever the replica says its log start is.
	case offset < p.logStart:
		return deleted, Excuse{}
	case !ok && p.info.Compacted:
		return deleted, Excuse{}
	}
	if e, ok := p.lives.excuse(offset, s.Invoke); ok {
		return excused, e
	}
	if !p.final.known {
		return unjudged, Excuse{}
	}
	return missing, Excuse{}
}

func (v *view) countExcused(p *partitionView) {
	for _, i := range p.sends {
		s := &v.history.Sends[i]
		if v.outcomes[i] != Ok || !s.mustSurvive() {
			continue
		}
		v.acknowledged += int64(len(s.Records))
		for k := range s.Records {
			if f, e := v.fateOf(p, i, k); f == excused {
				v.excused[e.Reason]++
			}
		}
	}
}

func (v *view) excusedByReason() []Counter {
	var out []Counter
	for _, reason := range slices.Sorted(maps.Keys(v.excused)) {
		out = append(out, Counter{reason, v.excused[reason]})
	}
	return out
}

// finalLog is the committed log of a partition after heal and quiesce.
type finalLog struct {
	known  bool
	source string
	start  kafka.Offset // of the replica; deletions below it may be legal or not
	end    kafka.Offset // exclusive; NoOffset when all of records is committed

	records []Observed // by offset
	at      map[kafka.Offset]Observed
}

// committed says whether the offset lies below the high watermark of the dump.
func (f *finalLog) committed(offset kafka.Offset) bool { return f.end < 0 || offset < f.end }

// newFinalLog takes the leader's dump, else the only dump, else what the final polls read.
func newFinalLog(h *History, p *partitionView) finalLog {
	for _, i := range p.dumps {
		if d := &h.Dumps[i]; d.Leader || len(p.dumps) == 1 {
			f := finalLog{
				known: true, source: describeDump(d), start: d.LogStart,
				end: d.HighWatermark,
			}
			return f.index(d.Records)
		}
	}
	f := finalLog{source: "final polls", start: p.info.FirstOffset, end: kafka.NoOffset}
	var records []Observed
	for _, i := range p.polls {
		if poll := &h.Polls[i]; poll.Final && poll.Return != 0 && poll.Code == kafka.None {
			f.known = true
			records = append(records, poll.Records...)
		}
	}
	return f.index(records)
}

func (f finalLog) index(records []Observed) finalLog {
	f.records = slices.Clone(records)
	slices.SortStableFunc(f.records, func(a, b Observed) int {
		return cmp.Compare(a.Offset, b.Offset)
	})
	f.at = make(map[kafka.Offset]Observed, len(records))
	for _, r := range f.records {
		if _, ok := f.at[r.Offset]; !ok {
			f.at[r.Offset] = r
		}
	}
	return f
}

func (p *partitionView) fails(r *Report, what string, evidence ...string) {
	r.broken(p.name, what, evidence...)
}
