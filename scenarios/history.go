package scenarios

import (
	"slices"
	"strings"

	"stet/core/kafka"
	"stet/linearizability"
	"stet/scenarios/schedule"
	"stet/sim"
	"stet/sim/client"
)

// topicName is the only topic of a run.
const topicName = "orders"

// recorder turns what clients report into a history. Time is the number of events that the
// scheduler has run, so that a step of the history is a line number of the trace.
type recorder struct {
	scheduler *sim.Scheduler
	ghost     *ghost
	history   linearizability.History
	sends     []*linearizability.Send // in the order of invocation
	counters  counters
	troubles  []string

	inFlight int // requests of sends that are under way
	// onAttempt, if set, is called before each request of a send of the schedule.
	onAttempt func(schedule.Request)
	// onAnswer, if set, is called for each acknowledgement with acks other than 0.
	onAnswer func(s *linearizability.Send, base kafka.Offset)
	// deposed, if set, says that the broker that was asked did not lead a partition all the time since a
	// step.
	deposed func(p kafka.PartitionID, asked client.Server, since linearizability.Step) bool
	// onRetry, if set, is called for each that came for a later attempt than the first.
	onRetry func(s *linearizability.Send, base kafka.Offset)
}

// counters are a run's own counts by name.
type counters map[string]int64

func (r *recorder) step() linearizability.Step {
	return linearizability.Step(r.scheduler.EventCount())
}

func partitionOf(p kafka.PartitionID) linearizability.Partition {
	return linearizability.Partition{Topic: topicName, Index: p}
}

// invoke begins a send. Its records are added by the caller.
func (r *recorder) invoke(id linearizability.ClientID, p kafka.PartitionID,
	c *client.ProducerConfig,
) *linearizability.Send {
	s := &linearizability.Send{
		Client: id, Partition: partitionOf(p), Acks: c.Acks, Idempotent: c.Idempotent,
		Invoke: r.step(),
	}
	r.sends = append(r.sends, s)
	return s
}

// finish returns the history, with the sends that are still open.
func (r *recorder) finish() *linearizability.History {
	r.history.Sends = r.history.Sends[:0]
	for _, s := range r.sends {
		r.history.Sends = append(r.history.Sends, *s)
	}
	return &r.history
}

// open counts the sends that have not returned.
func (r *recorder) open() (n int) {
	for _, s := range r.sends {
		if s.Return == 0 {
			n++
		}
	}
	return n
}

// excuse says that what is at and above an offset may be gone from now on.
func (r *recorder) excuse(p kafka.PartitionID, from kafka.Offset, reason string) {
	r.history.Excuses = append(r.history.Excuses, linearizability.Excuse{
		Partition: partitionOf(p), Step: max(1, r.step()), From: from, To: -1, Reason: reason,
	})
}

// observer is the recorder as one client sees it: client.Observer.
type observer struct {
	*recorder
	id    linearizability.ClientID
	final bool

	tried map[*linearizability.Send]linearizability.Step // when the attempts under way began
	stale bool                                           // the last attempt was answered by who did not lead any more
}

// AttemptStarted implements client.Observer.
func (o *observer) AttemptStarted(s *client.Send) {
	o.inFlight++
	o.tried[s.Tag.(tracked).Send] = o.step()
	if o.onAttempt != nil {
		t := s.Tag.(tracked)
		o.onAttempt(schedule.Request{Producer: t.producer, Send: t.number, Try: s.Attempts})
	}
}

// AttemptEnded implements client.Observer.
func (o *observer) AttemptEnded(s *client.Send, a client.Attempt) {
	o.inFlight--
	send := s.Tag.(tracked).Send
	send.Session = s.Session
	o.stale = o.deposed != nil && a.Ending == client.Answered && o.deposed(s.Partition, s.Server, o.tried[send])
	delete(o.tried, send)
	ending := [...]linearizability.Ending{
		client.Answered: linearizability.Answered,
		client.Lost:     linearizability.Lost, client.NotSent: linearizability.NotSent,
	}[a.Ending]
	send.Attempts = append(send.Attempts, linearizability.Attempt{
		Ending: ending, Code: a.Code, BaseOffset: a.BaseOffset,
	})
	o.counters["client.attempts."+string(ending)]++
	if a.Ending == client.Answered && a.Code != kafka.None {
		o.counters["client.code."+a.Code.String()]++
	}
	if a.Ending == client.Answered && a.Code == kafka.None && o.onAnswer != nil {
		o.onAnswer(send, a.BaseOffset)
	}
	if a.Ending == client.Answered && a.Code == kafka.None && len(send.Attempts) > 1 &&
		o.onRetry != nil {
		o.onRetry(send, a.BaseOffset)
	}
}

// SendReturned implements client.Observer.
func (o *observer) SendReturned(s *client.Send) {
	send := s.Tag.(tracked).Send
	send.Return = o.step()
	send.Session = s.Session
	o.counters["client.sends"]++
}

// PollInvoked implements client.Observer.
func (o *observer) PollInvoked(p *client.Poll) { p.Tag = o.step() }

// PollReturned implements client.Observer.
func (o *observer) PollReturned(p *client.Poll) {
	poll := linearizability.Poll{
		Client: o.id, Partition: partitionOf(p.Partition), Assignment: p.Assignment,
		Position: p.Position, Invoke: p.Tag.(linearizability.Step), Return: o.step(),
		Code: p.Code, HighWatermark: p.HighWatermark, LastStableOffset: p.LastStableOffset,
		LogStart: p.LogStart, Final: o.final,
	}
	if p.Committed {
		poll.Isolation = linearizability.ReadCommitted
	}
	for _, b := range p.Batches {
		poll.Batches = append(poll.Batches, linearizability.Batch(b))
	}
	for _, f := range p.Records {
		poll.Records = append(poll.Records, linearizability.Observed{
			Offset: f.Offset,
			Value:  linearizability.ParseValue(f.Value), Timestamp: f.Timestamp,
		})
	}
	poll.Ghost = o.ghost.at(p.Partition, poll.Invoke)
	o.history.Polls = append(o.history.Polls, poll)
	o.counters["client.polls"]++
	if len(p.Records) > 0 {
		o.counters["client.polls.with_records"]++
	}
}

// ListInvoked implements client.Observer.
func (o *observer) ListInvoked(l *client.List) { l.Tag = o.step() }

// ListReturned implements client.Observer.
func (o *observer) ListReturned(l *client.List) {
	list := linearizability.ListOffsets{
		Client: o.id, Partition: partitionOf(l.Partition), Invoke: l.Tag.(linearizability.Step),
		Return: o.step(), Timestamp: l.Timestamp, Code: l.Code, Offset: l.Offset,
		AnswerStamp: l.AnswerStamp,
	}
	if l.Committed {
		list.Isolation = linearizability.ReadCommitted
	}
	list.Ghost = o.ghost.at(l.Partition, list.Invoke)
	list.Deposed = o.deposed != nil && o.deposed(l.Partition, l.Server, list.Invoke)
	o.history.Lists = append(o.history.Lists, list)
	o.counters["client.lists"]++
}

// Trouble implements client.Observer. It is told of an attempt when that has ended.
//
// A client that learns late of an election asks who was elected before the one that it asked last. A
// deposed leader does not know what was written since, and refuses what follows it: nothing is lost.
func (o *observer) Trouble(name string) {
	if o.stale && strings.HasPrefix(name, client.TroubleSequence) {
		o.counters["client.refused_by_deposed"]++
		return
	}
	o.counters["client.trouble"]++
	if !slices.Contains(o.troubles, name) {
		o.troubles = append(o.troubles, name)
	}
}
