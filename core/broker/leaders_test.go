package broker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/record"
	"stet/core/wire"
)

// leaders stands in for the other brokers that the broker under test follows. Who does not listen
// refuses the connection.
type leaders struct {
	listening map[string]bool // addresses
	links     map[env.ConnID]string
	asked     []leaderAsked // not answered yet, in order
	dials     []string
}

// leaderAsked is a fetch that a leader has been sent.
type leaderAsked struct {
	conn env.ConnID
	slot env.Slot
	addr string
	*wire.FetchRequest
}

func (l *leaders) dialled(h *harness, conn env.ConnID, addr string) {
	l.dials = append(l.dials, addr)
	if !l.listening[addr] {
		h.answers = append(h.answers, env.Event{Kind: env.EventConnClosed, Conn: conn, Err: env.ERefused})
		return
	}
	if l.links == nil {
		l.links = map[env.ConnID]string{}
	}
	l.links[conn] = addr
	h.answers = append(h.answers, env.Event{
		Kind: env.EventConnOpened, Conn: conn, Info: &env.ConnInfo{Remote: addr},
	})
}

func (l *leaders) listen(addr string) {
	if l.listening == nil {
		l.listening = map[string]bool{}
	}
	l.listening[addr] = true
}

func (l *leaders) request(h *harness, op env.ConnOp, frame []byte) {
	var req env.Request
	decoder := wire.NewDecoder(wire.BrokerListener, wire.DefaultLimits())
	require.NoError(h.t, decoder.Decode(frame, &req))
	l.asked = append(l.asked, leaderAsked{op.Conn, op.Slot, l.links[op.Conn], req.Body.(*wire.FetchRequest)})
}

// next returns the oldest fetch that is not answered.
func (l *leaders) next(h *harness) leaderAsked {
	h.t.Helper()
	require.NotEmpty(h.t, l.asked, "nothing is asked of a leader")
	q := l.asked[0]
	l.asked = l.asked[1:]
	return q
}

// answer answers a fetch, and has everything performed that follows from it.
func (h *harness) answer(q leaderAsked, m *wire.ReplicaFetchResponse) {
	h.turn(env.Event{Kind: env.EventResponse, Conn: q.conn, Slot: q.slot, Res: m})
	h.deliver()
}

// named lists what a fetch says of partitions.
func (q leaderAsked) named() (out []wire.FetchPartition) {
	for i := range q.Topics {
		out = append(out, q.Topics[i].Partitions...)
	}
	return out
}

// forgets lists the partitions that a fetch takes out of its session.
func (q leaderAsked) forgets() (out []kafka.PartitionID) {
	for i := range q.Forgotten {
		out = append(out, q.Forgotten[i].Partitions...)
	}
	return out
}

// addBroker registers another broker, or a new life of it, and returns its epoch.
func (c *standIn) addBroker(id kafka.BrokerID, host string) kafka.BrokerEpoch {
	c.commit(&metadata.BrokerRecord{Broker: metadata.Broker{
		ID: id, Epoch: -1, Incarnation: metadata.IncarnationID{byte(id), byte(c.image.Index())},
		Directories: []metadata.DirectoryID{{byte(id)}}, Features: metadata.BuildLevels().Features(),
		Endpoints: []metadata.Endpoint{{Name: "PLAINTEXT", Host: host, Port: 9092}},
	}})
	return c.image.Broker(id).Epoch
}

// place gives a partition replicas and a leader in a new epoch; all of them are in sync.
func (c *standIn) place(name string, id kafka.PartitionID, leader kafka.BrokerID,
	replicas ...kafka.BrokerID,
) {
	topic := c.image.Topic(name)
	p := *topic.Partition(id)
	p.LeaderEpoch++
	p.Epoch++
	p.Leader, p.Replicas, p.ISR, p.ELR = leader, replicas, replicas, nil
	c.commit(&metadata.PartitionRecord{TopicID: topic.ID, ID: id, Partition: p})
}

// update has the broker read what the controller has committed.
func (h *harness) update() {
	h.controller.publish(h)
	h.deliver()
}

// followerHarness is a broker 1 that follows broker 2 in n partitions of orders.
func followerHarness(t *testing.T, n int32) *harness {
	h := newHarness(t, nil)
	h.createTopic("orders", n)
	h.leaders.listen("b2:9092")
	h.controller.addBroker(2, "b2")
	for id := range n {
		h.controller.place("orders", kafka.PartitionID(id), 2, 2, 1)
	}
	h.update()
	return h
}

// topicID is the id of a topic.
func (h *harness) topicID(name string) kafka.TopicID { return h.controller.image.Topic(name).ID }

// fetched is what a leader says of a partition in which it has the values from base on.
func (h *harness) fetched(id kafka.PartitionID, highWatermark, base kafka.Offset, values ...string,
) wire.ReplicaFetched {
	p := wire.ReplicaFetched{
		TopicID: h.topicID("orders"), Partition: id, HighWatermark: highWatermark,
		DivergingEpoch: wire.DivergingEpoch{Epoch: kafka.NoLeaderEpoch, EndOffset: kafka.NoOffset},
		CurrentLeader:  wire.NoLeader(),
	}
	if len(values) == 0 {
		return p
	}
	spec := record.Plain()
	spec.BaseOffset, spec.LeaderEpoch = base, h.broker.image.Topic("orders").Partition(id).LeaderEpoch
	data := batch(spec, h.now.WallMs, values...)
	facts := record.Inspect(data)
	p.Batches, p.Data = []record.Facts{facts}, [][]byte{data}
	return p
}

// isr changes who is in sync.
func (c *standIn) isr(name string, id kafka.PartitionID, members ...kafka.BrokerID) {
	topic := c.image.Topic(name)
	p := *topic.Partition(id)
	p.Epoch++
	p.ISR = members
	c.commit(&metadata.PartitionRecord{TopicID: topic.ID, ID: id, Partition: p})
}
