package golden

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
	"stet/sim/client"
)

// fetch asks once for some partitions.
func fetch(s *stage, a *args) {
	c := s.caller(a)
	r := kmsg.NewPtrFetchRequest()
	r.Version = 13
	r.MaxWaitMillis = int32(a.asDuration(a.option("wait", "0s")) / sim.Millisecond)
	r.MinBytes = int32(a.number(a.option("min", "1")))
	r.MaxBytes = int32(a.number(a.option("max", "1048576")))
	if a.option("isolation", "") == "committed" {
		r.IsolationLevel = 1
	}
	mode, forget := a.option("session", ""), a.option("forget", "")
	epoch := int32(a.number(a.option("epoch", "-1")))
	wanted := a.positions()
	if !a.ok() {
		return
	}
	var dropped kafka.TopicPartition
	if forget != "" {
		dropped = a.partition(forget)
	}
	c.open(a, mode, r)
	s.call(c, a, func(conn *client.Conn) {
		for _, w := range wanted {
			id, ok := c.learn(conn, w.Topic)
			if !ok {
				return
			}
			addFetch(r, id, w.Partition, w.offset, epoch)
		}
		if forget != "" {
			f := kmsg.NewFetchRequestForgottenTopic()
			f.TopicID, f.Partitions = c.ids[dropped.Topic], []int32{int32(dropped.Partition)}
			r.ForgottenTopics = append(r.ForgottenTopics, f)
		}
		c.fetched(conn.Call(r), mode)
	})
}

// position is where to read a partition from.
type position struct {
	kafka.TopicPartition
	offset int64
}

// positions takes all words that are left, such as orders-0@5.
func (a *args) positions() (all []position) {
	for _, word := range a.rest() {
		text, at, _ := strings.Cut(word, "@")
		all = append(all, position{a.partition(text), a.number(at)})
	}
	return all
}

// open says in a request what it is to its session.
func (c *caller) open(a *args, mode string, r *kmsg.FetchRequest) {
	switch mode {
	case "":
		r.SessionID, r.SessionEpoch = 0, -1
	case "new":
		r.SessionID, r.SessionEpoch = 0, 0
	case "next":
		c.session.epoch++
		r.SessionID, r.SessionEpoch = c.session.id, c.session.epoch
	case "again":
		r.SessionID, r.SessionEpoch = c.session.id, c.session.epoch
	case "close":
		r.SessionID, r.SessionEpoch = c.session.id, -1
	default:
		a.fails("a session is new, next, again or close")
	}
}

func addFetch(r *kmsg.FetchRequest, id kafka.TopicID, p kafka.PartitionID, at int64, epoch int32) {
	part := kmsg.NewFetchRequestTopicPartition()
	part.CurrentLeaderEpoch = epoch
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = int32(p), at, 1<<20
	for i := range r.Topics {
		if r.Topics[i].TopicID == id {
			r.Topics[i].Partitions = append(r.Topics[i].Partitions, part)
			return
		}
	}
	t := kmsg.NewFetchRequestTopic()
	t.TopicID, t.Partitions = id, append(t.Partitions, part)
	r.Topics = append(r.Topics, t)
}

// fetched tells what a fetch returned: of each partition the offsets and values.
func (c *caller) fetched(response kmsg.Response, mode string) {
	res, ok := response.(*kmsg.FetchResponse)
	if !ok {
		c.lost("fetch")
		return
	}
	if code := kafka.ErrorCode(res.ErrorCode); code != kafka.None {
		c.stage.say(c.name, "fetch %s", code)
		return
	}
	if mode == "new" {
		c.session.id, c.session.epoch = res.SessionID, 0
	}
	count := 0
	for i := range res.Topics {
		for j := range res.Topics[i].Partitions {
			count++
			c.part(kafka.TopicID(res.Topics[i].TopicID), &res.Topics[i].Partitions[j])
		}
	}
	if count == 0 {
		c.stage.say(c.name, "fetch of nothing new")
	}
}

func (c *caller) part(id kafka.TopicID, p *kmsg.FetchResponseTopicPartition) {
	tp := kafka.TopicPartition{Topic: "?", Partition: kafka.PartitionID(p.Partition)}
	for _, t := range c.stage.topics {
		if c.ids[t.name] == id {
			tp.Topic = t.name
		}
	}
	if code := kafka.ErrorCode(p.ErrorCode); code != kafka.None {
		c.stage.say(c.name, "%s %s", tp, code)
		return
	}
	text := "nothing"
	var all []string
	from := int64(-1)
	end := from
	for b := p.RecordBatches; ; {
		v, rest, problem := record.First(b)
		if problem != record.NoProblem {
			break
		}
		if from < 0 {
			from = int64(v.BaseOffset())
		}
		end, b = int64(v.NextOffset()), rest
		if problem := record.Check(v); problem != record.NoProblem {
			all = append(all, fmt.Sprintf("(%d bytes: %s)", len(v), problem))
			continue
		}
		all = append(all, values(v)...)
	}
	if from >= 0 {
		text = fmt.Sprintf("[%d,%d) %s", from, end, strings.Join(all, " "))
	}
	c.stage.say(c.name, "%s %s, high watermark %d%s", tp, text, p.HighWatermark, unusual(p))
}

// unusual tells the other ends of a log where they are not what they mostly are.
func unusual(p *kmsg.FetchResponseTopicPartition) (text string) {
	if p.LogStartOffset != 0 {
		text += fmt.Sprintf(", start %d", p.LogStartOffset)
	}
	if p.LastStableOffset != p.HighWatermark {
		text += fmt.Sprintf(", last stable %d", p.LastStableOffset)
	}
	return text
}
