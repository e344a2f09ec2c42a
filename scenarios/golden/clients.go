package golden

import (
	"maps"
	"slices"
	"strings"

	"stet/core/kafka"
	"stet/sim"
	"stet/sim/client"
)

// caller is a client of the script.
type caller struct {
	stage *stage
	name  string
	place sim.Place
	host  *client.Host
	conn  *client.Conn
	ids   map[string]kafka.TopicID // what it knows of topics
	// session is the fetch session that it keeps.
	session struct{ id, epoch int32 }
}

// dial makes a client of a node, or takes an existing one to another. The listener is that of the
// broker, or of the controller where there is no broker.
func dial(s *stage, a *args) {
	name, m := a.next("a client"), s.machine(a)
	timeout := a.asDuration(a.option("timeout", "30s"))
	if !a.ok() {
		return
	}
	place, owner := s.world.NewClient()
	addr := m.Addr
	if addr == "" {
		addr = m.ControllerAddr
	}
	c := &caller{stage: s, name: name, place: place, ids: map[string]kafka.TopicID{}}
	c.host = &client.Host{
		Scheduler: s.world.Scheduler, Network: s.world.Network, Owner: owner, Name: name,
		Stream: s.world.Entropy.Stream("client", place), Observer: (*listener)(c),
		Server: m.Place, Addr: addr, RequestTimeout: exactly(timeout),
		Pause: exactly(10 * sim.Millisecond),
	}
	s.clients[name] = c
	s.call(c, a, func(*client.Conn) { s.say(name, "connected to %s", m.Place) })
}

// caller takes the name of a client.
func (s *stage) caller(a *args) *caller {
	name := a.next("a client")
	c := s.clients[name]
	if c == nil {
		a.fails("%q is no client", name)
	}
	return c
}

// call has a client do something on its connection, now or in the background.
func (s *stage) call(c *caller, a *args, f func(*client.Conn)) {
	if !a.ok() {
		return
	}
	done := false
	s.world.Scheduler.Spawn(0, c.host.Owner, c.name, func() {
		defer func() { done = true }()
		if c.conn == nil || c.conn.Closed() {
			c.conn = c.host.Dial()
			if !c.conn.Hello(3) {
				s.say(c.name, "no connection")
				return
			}
		}
		f(c.conn)
	})
	if !a.background {
		s.until(a, func() bool { return done })
	}
}

// lost tells that a call of a client ended without an answer.
func (c *caller) lost(what string) { c.stage.say(c.name, "no answer to %s", what) }

// learn asks for a topic's id unless the client knows it.
func (c *caller) learn(conn *client.Conn, topic string) (kafka.TopicID, bool) {
	id, ok := c.ids[topic]
	if ok {
		return id, true
	}
	if _, code, answered := c.metadata(conn, topic); !answered {
		return id, false
	} else if code != kafka.None {
		c.stage.say(c.name, "%s %s", topic, code)
		return id, false
	}
	return c.ids[topic], true
}

// metadata asks about a topic.
func (c *caller) metadata(conn *client.Conn, topic string) (
	led int, code kafka.ErrorCode, ok bool,
) {
	c.host.Topic, c.host.TopicID = topic, kafka.TopicID{}
	led, code = conn.Metadata(12)
	switch code {
	case kafka.NetworkException:
		c.lost("a question about " + topic)
		return 0, code, false
	case kafka.None:
		c.ids[topic] = c.host.TopicID
	default:
		delete(c.ids, topic)
	}
	return led, code, true
}

// create creates a topic.
func create(s *stage, a *args) {
	c, name := s.caller(a), a.next("a topic")
	partitions := int32(a.number(a.option("partitions", "1")))
	replicas := s.replicaList(a)
	configs := a.options
	a.options = nil
	s.topics = slices.DeleteFunc(s.topics, func(t topicName) bool { return t.name == name })
	s.topics = append(s.topics, topicName{name, partitions})
	s.call(c, a, func(conn *client.Conn) {
		c.host.Topic = name
		names := slices.Sorted(maps.Keys(configs))
		if len(replicas) > 0 {
			c.changed("created", name, conn.PlaceTopic(replicas, configs, names))
			return
		}
		c.changed("created", name, conn.CreateTopic(partitions, configs, names))
	})
}

// replicaList takes the option that names the brokers of a topic's only partition.
func (s *stage) replicaList(a *args) (ids []int32) {
	list := a.option("replicas", "")
	if list == "" {
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		m := s.machines[name]
		if m == nil {
			a.fails("%q is no node", name)
			return nil
		}
		ids = append(ids, int32(m.Place))
	}
	return ids
}

// remove deletes a topic.
func remove(s *stage, a *args) {
	c, name := s.caller(a), a.next("a topic")
	s.call(c, a, func(conn *client.Conn) {
		c.host.Topic = name
		c.changed("deleted", name, conn.DeleteTopic())
	})
}

// changed tells what became of a topic.
func (c *caller) changed(how, topic string, code kafka.ErrorCode) {
	switch code {
	case kafka.NetworkException:
		c.lost("the wish to have " + topic + " " + how)
	case kafka.None:
		c.stage.say(c.name, "%s is %s", topic, how)
	default:
		c.stage.say(c.name, "%s is not %s: %s", topic, how, code)
	}
}

// topic asks for metadata anew. Topics are numbered as scripts come to see them.
func topic(s *stage, a *args) {
	c, name := s.caller(a), a.next("a topic")
	s.call(c, a, func(conn *client.Conn) {
		led, code, ok := c.metadata(conn, name)
		switch {
		case !ok:
		case code != kafka.None:
			s.say(c.name, "%s %s", name, code)
		default:
			id := c.ids[name]
			if s.ids[id] == 0 {
				s.ids[id] = len(s.ids) + 1
			}
			s.say(c.name, "%s is topic #%d, %d partitions have a leader", name, s.ids[id], led)
		}
	})
}

// list asks for an offset by time.
func list(s *stage, a *args) {
	c, tp, at := s.caller(a), a.partition(a.next("a partition")), a.next("a time")
	l := &client.List{Partition: tp.Partition}
	switch at {
	case "earliest":
		l.Timestamp = kafka.EarliestTimestamp
	case "latest":
		l.Timestamp = kafka.LatestTimestamp
	case "max":
		l.Timestamp = kafka.MaxTimestamp
	default:
		l.Timestamp = a.stamp(at[min(1, len(at)):])
	}
	s.call(c, a, func(conn *client.Conn) {
		c.host.Topic = tp.Topic
		conn.List(l)
		switch {
		case !l.Answered:
			c.lost("list")
		case l.Code != kafka.None:
			s.say(c.name, "%s %s", tp, l.Code)
		case at == "earliest" || at == "latest":
			s.say(c.name, "%s %s is offset %d", tp, at, l.Offset)
		case l.Offset < 0:
			s.say(c.name, "%s %s is behind the last record", tp, at)
		default:
			s.say(c.name, "%s %s is offset %d of %s", tp, at, l.Offset, sinceBeginning(l.AnswerStamp))
		}
	})
}

// listener hears what the client library finds strange.
type listener caller

// Trouble implements client.Observer.
func (l *listener) Trouble(name string) { l.stage.say(l.name, "trouble: %s", name) }

// The rest of client.Observer tells nothing that the answers do not.

func (*listener) AttemptStarted(*client.Send)               {}
func (*listener) AttemptEnded(*client.Send, client.Attempt) {}
func (*listener) SendReturned(*client.Send)                 {}
func (*listener) PollInvoked(*client.Poll)                  {}
func (*listener) PollReturned(*client.Poll)                 {}
func (*listener) ListInvoked(*client.List)                  {}
func (*listener) ListReturned(*client.List)                 {}
