package story

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/record"
	"stet/linearizability"
	"stet/scenarios/schedule"
)

// names knows clients and sends.
type names struct {
	schedule *schedule.Schedule
	tries    map[string]int // of a send
	scratch  record.Scratch
}

func newNames(s *schedule.Schedule) *names { return &names{schedule: s, tries: map[string]int{}} }

// client names a client by what it is in the schedule.
func (n *names) client(place string) string {
	id, err := strconv.Atoi(strings.TrimPrefix(place, "c"))
	if err != nil {
		return place
	}
	for i := range n.schedule.Producers {
		if n.schedule.Producers[i].ID == id {
			return fmt.Sprintf("p%d", id)
		}
	}
	for i := range n.schedule.Consumers {
		if n.schedule.Consumers[i].ID == id {
			return fmt.Sprintf("consumer c%d", id)
		}
	}
	if part := parts[id]; part != "" {
		return part
	}
	return fmt.Sprintf("client c%d", id)
}

// parts are what clients are for that every run has.
var parts = map[int]string{
	303: "whoever sets up", 304: "the other topic's client", 305: "the probe", 306: "the final reader",
}

// batch names what is sent: "send 14 (2 records)".
func (n *names) batch(client string, b record.View) string {
	text := count(int(b.Count()), "record")
	if id := b.ProducerID(); id >= 0 {
		text += fmt.Sprintf(", sequence %d", b.BaseSequence())
		if b.Count() > 1 {
			text += fmt.Sprintf(" to %d", b.LastSequence())
		}
	}
	number := n.number(b)
	if number == 0 {
		return "its batch (" + text + ")"
	}
	key := fmt.Sprint(client, " ", number)
	if n.tries[key]++; n.tries[key] > 1 {
		text += fmt.Sprintf(", try %d", n.tries[key])
	}
	return fmt.Sprintf("send %d (%s)", number, text)
}

// number gives the number of the send that a batch is of, 0 for none.
func (n *names) number(b record.View) int {
	var first linearizability.Value
	n.scratch.Records(b, 16<<20, func(r record.Record) bool {
		first = linearizability.ParseValue(r.Value)
		return false
	})
	return n.send(first)
}

// sent names what a request sent to a partition.
func (n *names) sent(q *kmsg.ProduceRequest, partition int32) string {
	for _, t := range q.Topics {
		for _, p := range t.Partitions {
			batch, _, problem := record.First(p.Records)
			if p.Partition != partition || problem != record.NoProblem {
				continue
			}
			if number := n.number(batch); number > 0 {
				return fmt.Sprintf("send %d", number)
			}
		}
	}
	return "its batch"
}

// send gives the number of the send that begins with a record, 0 for none.
func (n *names) send(v linearizability.Value) int {
	for i := range n.schedule.Producers {
		p := &n.schedule.Producers[i]
		if linearizability.ClientID(p.ID) != v.Client {
			continue
		}
		seq := int64(0)
		for j := range p.Sends {
			if seq == v.Seq {
				return p.Sends[j].Number
			}
			seq += int64(len(p.Sends[j].Records))
		}
	}
	return 0
}

// asks tells of a request that reaches the node.
func (w *wire) asks(client string, q kmsg.Request) {
	who := w.names.client(client)
	switch q := q.(type) {
	case *kmsg.CreateTopicsRequest:
		for _, t := range q.Topics {
			w.say(aside, "%s asks for topic %s with %s", who, t.Topic, count(int(t.NumPartitions), "partition"))
		}
	case *kmsg.DeleteTopicsRequest:
		w.say(sending, "%s asks to delete a topic", who)
	case *kmsg.ProduceRequest:
		for _, t := range q.Topics {
			for _, p := range t.Partitions {
				batch, _, problem := record.First(p.Records)
				if problem != record.NoProblem {
					w.say(sending, "%s sends to partition %d what is no batch", who, p.Partition)
					continue
				}
				w.say(sending, "%s: %s for partition %d reaches the node", who,
					w.names.batch(client, batch), p.Partition)
			}
		}
	}
}

// hears tells of an answer that reaches a client.
func (w *wire) hears(client string, q kmsg.Request, p kmsg.Response) {
	who := w.names.client(client)
	switch p := p.(type) {
	case *kmsg.ProduceResponse:
		for _, t := range p.Topics {
			for _, r := range t.Partitions {
				what := w.names.sent(q.(*kmsg.ProduceRequest), r.Partition)
				if code := kafka.ErrorCode(r.ErrorCode); code != kafka.None {
					w.say(trouble, "%s hears that %s failed: %s", who, what, code)
				} else {
					w.say(sending, "%s hears that %s is at offset %d", who, what, r.BaseOffset)
				}
			}
		}
	case *kmsg.InitProducerIDResponse:
		if code := kafka.ErrorCode(p.ErrorCode); code != kafka.None {
			w.say(trouble, "%s asks for a producer id and hears %s", who, code)
		} else {
			w.say(aside, "%s gets producer id %d, epoch %d", who, p.ProducerID, p.ProducerEpoch)
		}
	case *kmsg.FetchResponse:
		w.fetched(who, q.(*kmsg.FetchRequest), p)
	case *kmsg.ListOffsetsResponse:
		for _, t := range p.Topics {
			for _, r := range t.Partitions {
				w.say(aside, "%s asks for an offset of partition %d and hears %d", who, r.Partition, r.Offset)
			}
		}
	}
}

// fetched tells of a fetch that brought something.
func (w *wire) fetched(who string, q *kmsg.FetchRequest, p *kmsg.FetchResponse) {
	from := map[int32]int64{}
	for _, t := range q.Topics {
		for _, r := range t.Partitions {
			from[r.Partition] = r.FetchOffset
		}
	}
	for _, t := range p.Topics {
		for _, r := range t.Partitions {
			if code := kafka.ErrorCode(r.ErrorCode); code != kafka.None {
				w.say(trouble, "%s reads partition %d and hears %s", who, r.Partition, code)
				continue
			}
			first, _, problem := record.First(r.RecordBatches)
			if problem != record.NoProblem {
				continue
			}
			last := first
			for rest := r.RecordBatches; ; {
				b, more, problem := record.First(rest)
				if problem != record.NoProblem {
					break
				}
				last, rest = b, more
			}
			w.say(reading, "%s reads offsets %d to %d of partition %d", who, first.BaseOffset(),
				last.LastOffset(), r.Partition)
		}
	}
}
