package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
)

// collect settles the requests that are over.
func (p *Producer) collect() {
	for i := 0; i < len(p.flight); {
		r := p.flight[i]
		if !r.call.Done {
			i++
			continue
		}
		p.flight = slices.Delete(p.flight, i, i+1)
		for _, s := range r.sends {
			p.settle(s, p.attempt(r.call, s))
		}
	}
}

// attempt reads how a request ended for one of its sends.
func (p *Producer) attempt(c *Call, s *Send) Attempt {
	a := Attempt{Ending: c.Ending, BaseOffset: kafka.NoOffset}
	res, ok := c.Response.(*kmsg.ProduceResponse)
	if !ok {
		return a
	}
	for i := range res.Topics {
		for j := range res.Topics[i].Partitions {
			part := &res.Topics[i].Partitions[j]
			if part.Partition == int32(s.Partition) {
				a.Code = kafka.ErrorCode(part.ErrorCode)
				a.BaseOffset = kafka.Offset(part.BaseOffset)
				p.leaders.refused(a.Code, s.Partition, part.CurrentLeader.LeaderEpoch,
					produceAddr(res, part.CurrentLeader.LeaderID))
				return a
			}
		}
	}
	p.host.Observer.Trouble("produce response without a partition that was asked for")
	a.Ending = Lost
	return a
}

// produceAddr returns where a broker listens by an answer, "" if it does not say.
func produceAddr(res *kmsg.ProduceResponse, id int32) string {
	for _, b := range res.Brokers {
		if b.NodeID == id {
			return addr(b.Host, b.Port)
		}
	}
	return ""
}

// verdict is what a producer does after an attempt.
type verdict uint8

const (
	finish  verdict = iota // resolved; the next batch follows it
	again                  // the same batch once more
	abandon                // resolved without being known to be in the log
)

// settle reports an attempt and decides what follows.
func (p *Producer) settle(s *Send, a Attempt) {
	p.host.Observer.AttemptEnded(s, a)
	l := &p.lanes[s.Partition]
	v := p.judge(l, s, a)
	if s.state == doomed && v == again {
		v = finish
	}
	if v == again {
		s.state = waiting
		s.retryAt = p.host.Scheduler.Now() + p.host.Stream.Delay(p.host.Pause.Low, p.host.Pause.High)
		return
	}
	wasDoomed := s.state == doomed
	if v == finish && a.Ending == Answered {
		l.confirmed = !wasDoomed
	}
	l.remove(s)
	p.host.Observer.SendReturned(s)
	if v == abandon && p.config.Idempotent && !wasDoomed {
		p.startOver()
	}
}

func (p *Producer) judge(l *lane, s *Send, a Attempt) verdict {
	now := p.host.Scheduler.Now()
	retry := again
	if p.config.Idempotent && now >= s.giveUpAt ||
		!p.config.Idempotent && s.Attempts >= p.config.Attempts {
		retry = abandon
	}
	switch {
	case p.config.Acks == 0 && a.Ending == Lost:
		return finish
	case a.Ending != Answered:
		return retry
	case a.Code == kafka.None || a.Code == kafka.DuplicateSequenceNumber:
		return finish
	case a.Code == kafka.OutOfOrderSequenceNumber && p.config.Idempotent:
		if l.queue[0] != s {
			return retry // something before it is under way again
		}
		if s.state != doomed {
			p.host.Observer.Trouble(fmt.Sprintf("%s: partition %d producer %d epoch %d sequence %d "+
				"attempt %d at %v", p.refusal(s), s.Partition, p.id, p.epoch, s.sequence,
				s.Attempts, now))
		}
		return abandon
	case a.Code.Retriable():
		return retry
	}
	tooLarge := a.Code == kafka.RecordListTooLarge || a.Code == kafka.MessageTooLarge
	if s.state != doomed && !tooLarge {
		p.host.Observer.Trouble("produce: " + a.Code.String())
	}
	return abandon
}

// TroubleSequence begins what is told when the broker refuses a batch as out of order although everything
// before it is in the log. A broker that has lost nothing does not do that.
const TroubleSequence = "sequence refused at the head of the line"

// TroubleWrap begins it when the sequences have passed 2^31-1.
const TroubleWrap = "sequence refused after its wrap"

func (p *Producer) refusal(s *Send) string {
	if p.config.FirstSequence > 1<<30 && s.sequence < 1<<30 && p.session == 1 {
		return TroubleWrap
	}
	return TroubleSequence
}

// startOver takes another producer id. What was tried and is not resolved is given up, because
// under another id it might come twice.
func (p *Producer) startOver() {
	p.id, p.epoch = kafka.NoProducerID, kafka.NoProducerEpoch
	for i := range p.lanes {
		for _, s := range p.lanes[i].restart() {
			p.host.Observer.SendReturned(s)
		}
	}
}
