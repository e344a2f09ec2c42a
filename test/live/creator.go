package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// creator creates and deletes topics of its own, one at a time, by whichever node it draws.
type creator struct {
	number  int
	random  *rand.Rand
	clients []*kgo.Client // one for each node, that knows no other
	ledger  *ledger
	next    int            // number of the next new name
	errors  map[string]int // by what they say, of requests that were not acknowledged
}

const (
	// answerTimeout is how long a creator waits; less than the pauses and cuts last.
	answerTimeout = time.Second
	// liveTopics is how many topics of a creator there are, about; more make it delete.
	liveTopics = 8
)

// run asks until ctx ends. A refused or unanswered request is noted; an answer that contradicts
// earlier ones ends it.
func (c *creator) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := c.step(ctx); err != nil {
			return fmt.Errorf("creator %d: %w", c.number, err)
		}
	}
	return nil
}

// step creates a topic, under a new name or one that was deleted, or deletes one.
func (c *creator) step(ctx context.Context) error {
	there, gone := c.ledger.names(present), c.ledger.names(absent)
	if len(there) > c.random.IntN(2*liveTopics) {
		name := there[c.random.IntN(len(there))]
		acked := c.ask(ctx, func(ctx context.Context, b *kgo.Broker) error {
			return deleteTopic(ctx, b, name)
		})
		c.ledger.deletion(name, acked)
		return nil
	}
	name, partitions := fmt.Sprintf("c%d-%d", c.number, c.next), 1+c.random.IntN(3)
	if len(gone) > 0 && c.random.IntN(3) == 0 {
		name = gone[c.random.IntN(len(gone))]
		partitions = c.ledger.topics[name].partitions
	} else {
		c.next++
	}
	var id topicID
	acked := c.ask(ctx, func(ctx context.Context, b *kgo.Broker) (err error) {
		id, err = createReplicated(ctx, b, name, partitions, 1+c.random.IntN(len(c.clients)))
		return err
	})
	return c.ledger.creation(name, partitions, acked, id)
}

// ask sends one request, once, to a node that it draws, and says whether it was acknowledged. After
// anything else it pauses a little, as a client should.
func (c *creator) ask(ctx context.Context, do func(context.Context, *kgo.Broker) error) bool {
	client := c.clients[c.random.IntN(len(c.clients))]
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	if err := do(limited, client.SeedBrokers()[0]); err != nil {
		c.note(err)
		time.Sleep(time.Duration(10+c.random.IntN(50)) * time.Millisecond)
		return false
	}
	return true
}

// note counts an error; those of the network by their kind.
func (c *creator) note(err error) {
	text := "connection"
	var answer *kerr.Error
	switch {
	case errors.As(err, &answer):
		text = answer.Message
	case errors.Is(err, context.DeadlineExceeded):
		text = "timeout"
	}
	if c.errors == nil {
		c.errors = map[string]int{}
	}
	c.errors[text]++
}

// names returns, sorted, the names with a standing.
func (l *ledger) names(s standing) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(l.topics)) {
		if l.topics[name].standing == s {
			names = append(names, name)
		}
	}
	return names
}

// createReplicated asks a node to create a topic with replicas on any nodes.
func createReplicated(
	ctx context.Context, b *kgo.Broker, name string, partitions, replicas int,
) (topicID, error) {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(answerTimeout / time.Millisecond)
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, int32(partitions), int16(replicas)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, once{b})
	if err != nil {
		return topicID{}, err
	}
	if len(resp.Topics) != 1 || resp.Topics[0].Topic != name {
		return topicID{}, errors.New("the answer is about other topics")
	}
	return resp.Topics[0].TopicID, kerr.ErrorForCode(resp.Topics[0].ErrorCode)
}

func deleteTopic(ctx context.Context, b *kgo.Broker, name string) error {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = int32(answerTimeout / time.Millisecond)
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = &name
	req.Topics, req.TopicNames = append(req.Topics, topic), append(req.TopicNames, name)
	resp, err := req.RequestWith(ctx, once{b})
	if err != nil {
		return err
	}
	if len(resp.Topics) != 1 {
		return errors.New("the answer is about other topics")
	}
	return kerr.ErrorForCode(resp.Topics[0].ErrorCode)
}

// topicsOf returns all topics that a node tells of, and the brokers.
func topicsOf(ctx context.Context, b *kgo.Broker) (topics []heldTopic, brokers []int32, err error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = nil
	resp, err := req.RequestWith(ctx, once{b})
	if err != nil {
		return nil, nil, err
	}
	for _, t := range resp.Topics {
		topics = append(topics, heldTopic{*t.Topic, t.TopicID, len(t.Partitions)})
	}
	for _, b := range resp.Brokers {
		brokers = append(brokers, b.NodeID)
	}
	return topics, brokers, nil
}

// once sends a request to one broker without retrying it: what was not answered may have had its
// effect.
type once struct{ broker *kgo.Broker }

// Request implements kmsg.Requestor.
func (o once) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	return o.broker.Request(ctx, req)
}
