package linearizability

import "stet/core/kafka"

// Monitor judges a history while it grows: the checks that take O(1) for each observation (H2, H9,
// H10). A run that stops at the first violation has the evidence fresh. Judge repeats all of them
// at the end, so a run that has no use for this may leave it out.
type Monitor struct {
	history *History
	sends   int // observed so far
	polls   int
	excuses int

	tables map[Partition]*offsetTable
	info   map[Partition]PartitionInfo
	found  Report
}

// NewMonitor watches a history that its recorder appends to. The history's Partitions must be
// there already, and an excuse must be recorded before what is read after the loss.
func NewMonitor(h *History) *Monitor {
	m := &Monitor{
		history: h,
		tables:  map[Partition]*offsetTable{},
		info:    map[Partition]PartitionInfo{},
	}
	for _, info := range h.Partitions {
		m.info[info.Partition] = info
	}
	return m
}

// Observe judges what was appended to the history since the last call, and returns the violations
// that this adds.
func (m *Monitor) Observe() []Violation {
	m.found = Report{}
	h := m.history
	for ; m.excuses < len(h.Excuses); m.excuses++ {
		e := h.Excuses[m.excuses]
		m.table(e.Partition).lives.add(e)
	}
	for ; m.sends < len(h.Sends); m.sends++ {
		m.observeSend(m.sends)
	}
	for ; m.polls < len(h.Polls); m.polls++ {
		m.observePoll(m.polls)
	}
	return m.found.Violations
}

func (m *Monitor) table(p Partition) *offsetTable {
	t := m.tables[p]
	if t == nil {
		t = &offsetTable{lives: &lives{}}
		m.tables[p] = t
	}
	return t
}

func (m *Monitor) observeSend(i int) {
	s := &m.history.Sends[i]
	outcome, base := s.Outcome()
	if outcome != Ok || base < 0 || !s.mustSurvive() && m.info[s.Partition].Replicas != 1 {
		return
	}
	for k, value := range s.Records {
		record := Observed{base + kafka.Offset(k), value, kafka.NoTimestamp}
		m.observe(s.Partition, sighting{record, s.Invoke, orNever(s.Return), source{fromSend, i}})
	}
}

func (m *Monitor) observePoll(i int) {
	poll := &m.history.Polls[i]
	if poll.Return == 0 {
		return
	}
	for _, record := range poll.Records {
		m.observe(poll.Partition, sighting{record, poll.Invoke, poll.Return, source{fromPoll, i}})
	}
	if what, _ := uncommitted(poll); what != "" {
		m.add(UncommittedRead, poll.Partition, what, describePoll(poll))
	}
	if what := malformedFetch(poll); poll.Code == kafka.None && what != "" {
		m.add(FetchForm, poll.Partition, what, describePoll(poll))
	}
}

func (m *Monitor) observe(p Partition, s sighting) {
	if other, ok := m.table(p).observe(s); !ok {
		m.add(InconsistentOffset, p, "an offset holds "+other.value.String()+" and "+
			s.record.Value.String(), m.history.describe(other.where), m.history.describe(s.where))
	}
}

func (m *Monitor) add(check ID, p Partition, what string, evidence ...string) {
	m.found.Check = check
	m.found.broken(p, what, evidence...)
}
