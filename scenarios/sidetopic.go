package scenarios

import (
	"stet/core/kafka"
	"stet/sim"
	"stet/sim/client"
)

// bystander observes a client whose fate nobody judges.
type bystander struct{}

func (bystander) AttemptStarted(*client.Send)               {}
func (bystander) AttemptEnded(*client.Send, client.Attempt) {}
func (bystander) SendReturned(*client.Send)                 {}
func (bystander) PollInvoked(*client.Poll)                  {}
func (bystander) PollReturned(*client.Poll)                 {}
func (bystander) ListInvoked(*client.List)                  {}
func (bystander) ListReturned(*client.List)                 {}
func (bystander) Trouble(string)                            {}

// liveAndDie creates a topic, writes to it and deletes it, twice: the second life has the same
// name, hence the same directories.
func liveAndDie(h *client.Host, f *findings) {
	validateOnly(h, f)
	for range 2 {
		h.TopicID = kafka.TopicID{}
		persist(h, func(c *client.Conn) bool {
			code := c.CreateTopic(2, nil, nil)
			return code == kafka.None || code == kafka.TopicAlreadyExists
		})
		plan := client.ProducerConfig{Partitions: 2, Acks: -1, InFlight: 5, Attempts: 3}
		client.NewProducer(h, plan, &someSends{host: h, left: 10}).Run()
		persist(h, func(c *client.Conn) bool {
			code := c.DeleteTopic()
			return code == kafka.None || code == kafka.UnknownTopicOrPartition
		})
	}
}

// validateOnly is Q9 for a creation that only validates: there is nothing to delete afterwards. Nobody
// has asked to create the topic yet.
func validateOnly(h *client.Host, f *findings) {
	valid := false
	persist(h, func(c *client.Conn) bool {
		valid = c.ValidateTopic(2) == kafka.None
		return valid
	})
	if !valid {
		return
	}
	persist(h, func(c *client.Conn) bool {
		code := c.DeleteTopic()
		f.checked("Q9")
		if code == kafka.None {
			f.fails("Q9", "a creation that only validates has created the topic")
		}
		return code == kafka.None || code == kafka.UnknownTopicOrPartition
	})
}

// persist tries on fresh connections, but not for ever.
func persist(h *client.Host, try func(*client.Conn) bool) {
	for range 50 {
		c := h.Dial()
		done := c.Hello(3) && try(c)
		c.Close()
		if done {
			return
		}
		h.Scheduler.Await(20 * sim.Millisecond)
	}
}

// someSends is a source of a few records without meaning.
type someSends struct {
	host *client.Host
	left int
}

// Next implements client.Source.
func (s *someSends) Next() (*client.Send, sim.Time) {
	if s.left == 0 {
		return nil, sim.Never
	}
	s.left--
	return &client.Send{Partition: kafka.PartitionID(s.left % 2), Records: []client.Record{{
		Timestamp: sim.WallEpochMs, Value: make([]byte, 1+s.left*37),
	}}}, 0
}
