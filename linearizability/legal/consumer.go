package legal

import (
	"stet/core/kafka"
	lin "stet/linearizability"
)

// consumer reads every partition, one poll of each at a time.
type consumer struct {
	client lin.ClientID
	at     []*position // by partition
}

// position is where a consumer is in one partition, and the poll that it has open there.
type position struct {
	offset     kafka.Offset
	assignment int32

	open   *lin.Poll
	served bool
	seen   kafka.Offset // the true high watermark when the poll was served
}

func newConsumer(client lin.ClientID, partitions int) *consumer {
	c := &consumer{client: client}
	for range partitions {
		c.at = append(c.at, &position{})
	}
	return c
}

// read moves the consumer's poll of the partition on by one event.
func (w *world) read(c *consumer, p *partition) {
	at := c.at[p.index]
	switch {
	case at.open == nil:
		if w.chance(8) {
			at.seek(kafka.Offset(w.random.Int64N(int64(p.end()) + 1)))
		}
		at.open = &lin.Poll{
			Client: c.client, Partition: p.name, Assignment: at.assignment,
			Position: at.offset, Invoke: w.step,
		}
		at.served = false
	case !at.served:
		w.fetch(at, p)
	default:
		w.deliver(at, p)
	}
}

// seek begins another assignment.
func (at *position) seek(to kafka.Offset) {
	at.offset = to
	at.assignment++
}

// fetch serves a poll. A stale answer shows an older prefix; it may even end below the position.
func (w *world) fetch(at *position, p *partition) {
	poll := at.open
	at.served, at.seen = true, p.highWatermark
	high := p.highWatermark
	if w.shape.StaleReads && w.chance(20) {
		high = p.logStart + kafka.Offset(w.random.Int64N(int64(high-p.logStart)+1))
	}
	poll.HighWatermark, poll.LastStableOffset, poll.LogStart = high, high, p.logStart
	if poll.Position < p.logStart || poll.Position > p.end() {
		poll.Code = kafka.OffsetOutOfRange
		poll.HighWatermark, poll.LastStableOffset, poll.LogStart = -1, -1, -1
		return
	}
	limit := 1 + w.random.IntN(5)
	for _, b := range p.from(poll.Position, high) {
		if len(poll.Batches) == limit {
			return
		}
		poll.Batches = append(poll.Batches, lin.Batch{
			Base: b.base, Last: b.end() - 1, Count: int32(b.count), Control: b.control,
		})
		for _, record := range b.records {
			if record.Offset >= poll.Position {
				poll.Records = append(poll.Records, record)
			}
		}
	}
}

// deliver returns a poll, or loses it.
func (w *world) deliver(at *position, p *partition) {
	poll := at.open
	at.open = nil
	if w.chance(5) {
		w.history.Polls = append(w.history.Polls, *poll.Abandoned())
		at.seek(at.offset)
		return
	}
	poll.Return = w.step
	high := max(at.seen, p.highWatermark)
	poll.Ghost = &lin.Ghost{LogStart: p.logStart, LastStableOffset: high, HighWatermark: high}
	w.history.Polls = append(w.history.Polls, *poll)
	if poll.Code != kafka.None {
		at.seek(p.logStart)
		return
	}
	if n := len(poll.Batches); n > 0 {
		at.offset = poll.Batches[n-1].Last + 1
	}
}

// giveUp leaves an open poll open.
func (w *world) giveUp(c *consumer) {
	for _, at := range c.at {
		if at.open != nil {
			w.history.Polls = append(w.history.Polls, *at.open.Abandoned())
			at.open = nil
		}
	}
}

// readAll is the final read of a partition.
func (w *world) readAll(c *consumer, p *partition) {
	at := c.at[p.index]
	at.seek(p.logStart)
	stale := w.shape.StaleReads
	w.shape.StaleReads = false
	for at.offset < p.highWatermark {
		w.tick()
		at.open = &lin.Poll{
			Client: c.client, Partition: p.name, Assignment: at.assignment,
			Position: at.offset, Invoke: w.step, Final: true,
		}
		w.tick()
		w.fetch(at, p)
		before := len(w.history.Polls)
		w.deliver(at, p)
		if w.history.Polls[before].Return == 0 {
			w.history.Polls = w.history.Polls[:before]
		}
	}
	w.shape.StaleReads = stale
}

// list asks for an offset. The query is served and answered within a few steps.
func (w *world) list(client lin.ClientID, p *partition) {
	l := lin.ListOffsets{
		Client: client, Partition: p.name, Invoke: w.step,
		Offset: kafka.NoOffset, AnswerStamp: kafka.NoTimestamp,
	}
	switch w.random.IntN(4) {
	case 0:
		l.Timestamp, l.Offset = kafka.LatestTimestamp, p.highWatermark
	case 1:
		l.Timestamp, l.Offset = kafka.EarliestTimestamp, p.logStart
	case 2:
		l.Timestamp = 1_000 + w.random.Int64N(int64(w.step)+60)
		w.search(&l, p, func(r lin.Observed) bool {
			return l.Offset < 0 && r.Timestamp >= l.Timestamp
		})
	default:
		l.Timestamp = kafka.MaxTimestamp
		w.search(&l, p, func(r lin.Observed) bool { return r.Timestamp > l.AnswerStamp })
	}
	high := p.highWatermark
	if w.shape.StaleReads && l.Timestamp == kafka.LatestTimestamp && w.chance(10) {
		l.Deposed, l.Offset = true, kafka.Offset(w.random.Int64N(int64(high)+1))
	}
	l.Return = w.tick()
	l.Ghost = &lin.Ghost{LogStart: p.logStart, LastStableOffset: high, HighWatermark: high}
	w.history.Lists = append(w.history.Lists, l)
}

// search takes each committed record for the answer that is better than the last.
func (w *world) search(l *lin.ListOffsets, p *partition, better func(lin.Observed) bool) {
	for _, record := range p.recordsFrom(p.logStart) {
		if record.Offset < p.highWatermark && better(record) {
			l.Offset, l.AnswerStamp = record.Offset, record.Timestamp
		}
	}
}
