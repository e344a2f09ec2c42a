package linearizability

import "fmt"

// source names an observation by its kind and its index in the history. Evidence lines are made
// from it only when a check fails.
type source struct {
	kind  sourceKind
	index int
}

type sourceKind uint8

const (
	fromSend sourceKind = iota
	fromPoll
	fromDump
	fromList
)

func (h *History) describe(s source) string {
	switch s.kind {
	case fromSend:
		return describeSend(&h.Sends[s.index])
	case fromPoll:
		return describePoll(&h.Polls[s.index])
	case fromDump:
		return describeDump(&h.Dumps[s.index])
	}
	return describeList(&h.Lists[s.index])
}

func describeSend(s *Send) string {
	outcome, base := s.Outcome()
	return fmt.Sprintf("send client=%d session=%d acks=%d %s %s base=%d n=%d first=%s",
		s.Client, s.Session, s.Acks, interval(s.Invoke, s.Return), outcome, base,
		len(s.Records), s.Records[0])
}

func describePoll(p *Poll) string {
	seen := "no records"
	if n := len(p.Records); n > 0 {
		seen = fmt.Sprintf("records [%d..%d] n=%d", p.Records[0].Offset, p.Records[n-1].Offset, n)
	}
	return fmt.Sprintf("poll client=%d assignment=%d %s position=%d code=%s hw=%d lso=%d start=%d %s",
		p.Client, p.Assignment, interval(p.Invoke, p.Return), p.Position, p.Code,
		p.HighWatermark, p.LastStableOffset, p.LogStart, seen)
}

func describeList(l *ListOffsets) string {
	return fmt.Sprintf("list-offsets client=%d %s timestamp=%d code=%s offset=%d stamp=%d",
		l.Client, interval(l.Invoke, l.Return), l.Timestamp, l.Code, l.Offset, l.AnswerStamp)
}

func describeDump(d *Dump) string {
	return fmt.Sprintf("dump replica=%d step=%d start=%d hw=%d end=%d records=%d",
		d.Replica, d.Step, d.LogStart, d.HighWatermark, d.LogEnd, len(d.Records))
}

func describeRecord(r Observed) string {
	return fmt.Sprintf("record offset=%d value=%s timestamp=%d", r.Offset, r.Value, r.Timestamp)
}

func interval(invoke, end Step) string {
	if end == 0 {
		return fmt.Sprintf("[%d, open]", invoke)
	}
	return fmt.Sprintf("[%d, %d]", invoke, end)
}
