package broker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/wire"
)

// harness drives a broker with an in-memory disk and a small stand-in for the controller.
type harness struct {
	t          *testing.T
	world      *logtest.World
	controller *standIn
	leaders    leaders
	config     Config
	broker     *Broker
	now        env.Now
	out        env.Effects
	bootID     string
	incarnated byte
	link       env.ConnID // dialled last
	dialled    []string   // addresses, in order
	peer       string     // the last of them

	paths    map[env.FileID]string
	replies  []reply
	asked    map[asked]call
	ranges   []env.Range // of the last response
	closed   []env.ConnID
	leases   []env.Event // responses with ranges that have not "left" yet
	answers  []env.Event // of the controller, not delivered yet
	failOp   string      // the next disk operation of this kind fails
	slots    map[env.ConnID]env.Slot
	recorded func(string) // told of every disk operation, or nil
	watch    func()       // called after every turn, or nil
}

type asked struct {
	conn env.ConnID
	slot env.Slot
}

type call struct{ key, version int16 }

// reply is a response as a client sees it.
type reply struct {
	conn     env.ConnID
	response kmsg.Response
	bytes    int // size of the frame without records
}

func newHarness(t *testing.T, change func(*Config)) *harness {
	h := &harness{
		t: t, world: logtest.NewWorld(rand.New(rand.NewPCG(1, 2))),
		controller: newStandIn(), config: DefaultConfig(), asked: map[asked]call{}, bootID: "boot",
		now: env.Now{Mono: 1, WallMs: 1_700_000_000_000},
	}
	h.config.NodeID = 1
	h.config.Listeners = []Listener{{Name: "PLAINTEXT", Host: "b1", Port: 9092}}
	if change != nil {
		change(&h.config)
	}
	h.world.Disk.Fail = h.fail
	h.start()
	return h
}

// start begins a life of the process and waits until it serves.
func (h *harness) start() {
	h.launch()
	require.NoError(h.t, h.broker.Fatal())
	require.True(h.t, h.broker.Ready())
}

// launch begins a life of the process.
func (h *harness) launch() {
	h.incarnated++
	config := h.config
	h.paths, h.slots = map[env.FileID]string{}, map[env.ConnID]env.Slot{}
	h.leases, h.answers, h.replies = nil, nil, nil
	h.broker = New(&config, env.Identity{BootID: h.bootID, Incarnation: [16]byte{h.incarnated}},
		func(u env.Use) *rand.Rand { return rand.New(rand.NewPCG(uint64(h.incarnated), uint64(u))) })
	h.turn(env.Event{Kind: env.EventTick})
	h.deliver()
}

// kill ends the process without a word.
func (h *harness) kill() { h.world.Crash() }

// stop ends the process cleanly.
func (h *harness) stop() {
	h.turn(env.Event{Kind: env.EventConfig, Res: Shutdown{}})
	h.deliver()
	require.True(h.t, h.broker.Stopped())
	h.world.Crash()
}

func (h *harness) fail(op, name string) env.Errno {
	if h.recorded != nil {
		h.recorded(op + " " + name)
	}
	if h.failOp != "" && h.failOp == op {
		h.failOp = ""
		return env.EIO
	}
	return env.OK
}

// turn runs one turn and takes over its effects.
func (h *harness) turn(events ...env.Event) {
	h.out.Reset()
	h.broker.Turn(h.now, events, &h.out)
	for _, op := range h.out.File {
		if op.Op == env.FileCreate || op.Op == env.FileOpen {
			h.paths[op.File] = op.Path
		}
	}
	for _, op := range h.out.Conn {
		h.conn(op)
	}
	h.world.Perform(&h.out)
	if h.watch != nil {
		h.watch()
	}
}

func (h *harness) conn(op env.ConnOp) {
	head := append([]byte(nil), h.out.Bytes[op.Head.Start:op.Head.End]...)
	switch op.Op {
	case env.ConnDial:
		if !h.controls(string(head)) {
			h.leaders.dialled(h, op.Conn, string(head))
			return
		}
		h.link = op.Conn
		h.peer, h.dialled = string(head), append(h.dialled, string(head))
		h.controller.waiting = nil
		answer := env.Event{
			Kind: env.EventConnOpened, Conn: op.Conn, Info: &env.ConnInfo{Remote: string(head)},
		}
		if h.controller.down[string(head)] {
			answer = env.Event{Kind: env.EventConnClosed, Conn: op.Conn, Err: env.ERefused}
		}
		h.answers = append(h.answers, answer)
	case env.ConnSend:
		if op.Conn != h.link {
			h.leaders.request(h, op, head)
			return
		}
		h.controller.request(h, op.Slot, head)
	case env.ConnRespond:
		h.respond(op, head)
	case env.ConnClose:
		if op.Conn.Link() {
			h.answers = append(h.answers, env.Event{Kind: env.EventConnClosed, Conn: op.Conn})
			return
		}
		h.closed = append(h.closed, op.Conn)
	}
}

// controls says whether a controller is to be found at an address.
func (h *harness) controls(addr string) bool {
	return addr == "" || addr == h.controller.joined.Addr ||
		slices.ContainsFunc(h.config.Controllers, func(c kafka.ControllerAddress) bool { return c.Addr == addr })
}

// respond decodes a response as a client would, with the ranges filled in from the disk.
func (h *harness) respond(op env.ConnOp, head []byte) {
	var frame []byte
	at := uint32(0)
	h.ranges = slices.Clone(h.out.Ranges[op.Ranges.Start:op.Ranges.End])
	for _, r := range h.out.Ranges[op.Ranges.Start:op.Ranges.End] {
		content := h.world.Disk.Content(h.paths[r.File])
		require.GreaterOrEqual(h.t, int64(len(content)), r.Off+r.Len)
		frame = append(frame, head[at:r.At]...)
		frame = append(frame, content[r.Off:r.Off+r.Len]...)
		at = r.At
	}
	frame = append(frame, head[at:]...)
	c := h.asked[asked{op.Conn, op.Slot}]
	response, err := wire.DecodeResponse(c.key, c.version, frame)
	require.NoError(h.t, err)
	h.replies = append(h.replies, reply{op.Conn, response, len(head)})
	if op.Token != 0 {
		h.leases = append(h.leases, env.Event{
			Kind: env.EventResponseSent, Conn: op.Conn,
			Token: op.Token,
		})
	}
}

// step performs one thing that is outstanding.
func (h *harness) step() bool {
	if len(h.answers) > 0 {
		ev := h.answers[0]
		h.answers = h.answers[1:]
		h.turn(ev)
		return true
	}
	ev, ok := h.world.Step()
	if !ok {
		return false
	}
	h.turn(ev)
	return true
}

// deliver performs everything that is outstanding.
func (h *harness) deliver() {
	for n := 0; h.step(); n++ {
		require.Less(h.t, n, 1_000_000, "the broker never comes to rest")
	}
}

// sent reports that every response has left.
func (h *harness) sent() {
	leases := h.leases
	h.leases = nil
	for _, ev := range leases {
		h.turn(ev)
	}
}

// tick lets time pass.
func (h *harness) tick(ms int64) {
	h.now.Mono += env.Mono(ms * 1_000_000)
	h.now.WallMs += ms
	if ms >= metadataFetchWait.Milliseconds() {
		h.turn(h.controller.expire(h)...)
		return
	}
	h.turn(env.Event{Kind: env.EventTick})
}

// ask sends a request and runs the turn that takes it.
func (h *harness) ask(conn env.ConnID, m kmsg.Request) {
	frame := wire.AppendRequest(nil, 7, "test", m)
	h.askFrame(conn, frame)
}

func (h *harness) askFrame(conn env.ConnID, frame []byte) {
	if _, known := h.slots[conn]; !known {
		h.slots[conn] = 0
		h.turn(env.Event{
			Kind: env.EventConnOpened, Conn: conn,
			Info: &env.ConnInfo{Listener: "PLAINTEXT"},
		})
	}
	req := &env.Request{
		Conn: conn, Slot: h.slots[conn], Bytes: int64(len(frame)),
		Info: &env.ConnInfo{Listener: "PLAINTEXT"},
	}
	decoder := wire.NewDecoder(wire.BrokerListener, wire.DefaultLimits())
	require.NoError(h.t, decoder.Decode(frame, req))
	h.asked[asked{conn, req.Slot}] = call{req.Key, req.Version}
	h.slots[conn]++
	h.turn(env.Event{Kind: env.EventRequest, Conn: conn, Slot: req.Slot, Req: req})
}

// take returns the responses since the last call.
func (h *harness) take() []reply {
	replies := h.replies
	h.replies = nil
	return replies
}

// one returns the only response since the last call.
func (h *harness) one() kmsg.Response {
	h.t.Helper()
	replies := h.take()
	require.Len(h.t, replies, 1)
	return replies[0].response
}

// createTopic creates a topic and waits for it.
func (h *harness) createTopic(name string, partitions int32, configs ...string) {
	m := kmsg.NewPtrCreateTopicsRequest()
	m.Version, m.TimeoutMillis = 7, 5000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, 1
	for i := 0; i < len(configs); i += 2 {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = configs[i], &configs[i+1]
		t.Configs = append(t.Configs, c)
	}
	m.Topics = append(m.Topics, t)
	watch := h.watch
	h.watch = nil
	h.ask(99, m)
	h.deliver()
	h.watch = watch
	answer := h.one().(*kmsg.CreateTopicsResponse)
	require.Equal(h.t, kafka.None, kafka.ErrorCode(answer.Topics[0].ErrorCode))
}

// standIn answers a broker as a controller does that is alone and always succeeds.
type standIn struct {
	image     *metadata.Image
	entries   [][]byte
	refuses   int                     // so many requests for the index are refused
	waiting   []env.Slot              // metadata fetches that wait
	leader    string                  // address of the one that leads; empty: whoever is dialled
	hintless  bool                    // the others do not know who leads
	joined    kafka.ControllerAddress // leads and is in nobody's configuration; zero for none
	duplicate bool                    // refuses registrations because another broker has the id
	copied    bool                    // the other process that makes a heartbeat stale has a copy of the directory
	release   bool                    // lets brokers go that want to stop
	down      map[string]bool         // addresses that refuse connections
	silent    bool                    // answers nothing but metadata fetches
	undecided bool                    // answers nothing but metadata fetches and heartbeats
	stale     bool                    // refuses the next heartbeat
	deaf      bool                    // takes requests, and loses the answers to all but metadata fetches
	claims    []int64                 // the previous broker epochs of the registrations
	more      int64                   // so many entries are committed that it does not give
	topics    byte
	seen      func(key int16) // told of every request, or nil
}

func newStandIn() *standIn {
	c := &standIn{image: metadata.Empty()}
	c.commit(&metadata.ClusterRecord{ID: "AAAAAAAAAAAAAAAAAAAAAA", Features: metadata.Features{Level: 1}})
	return c
}

func (c *standIn) commit(records ...metadata.Record) {
	entry := metadata.AppendEntry(nil, records...)
	image, err := c.image.ApplyEntry(c.image.Index()+1, entry)
	if err != nil {
		panic(fmt.Sprint("stand-in controller: ", err))
	}
	c.image, c.entries = image, append(c.entries, entry)
}

func (c *standIn) request(h *harness, slot env.Slot, frame []byte) {
	var req env.Request
	decoder := wire.NewDecoder(wire.ControllerListener, wire.DefaultLimits())
	require.NoError(h.t, decoder.Decode(frame, &req))
	if c.seen != nil {
		c.seen(req.Key)
	}
	m, fetch := req.Body.(*wire.MetadataFetchRequest)
	if c.leader != "" && h.peer != c.leader {
		c.answer(h, slot, c.leadsNot(h, req.Body))
		return
	}
	if fetch {
		require.EqualValues(h.t, h.broker.image.Index()+1, m.FromIndex)
		if m.MaxWaitMs == 0 && h.broker.image.Index() == c.image.Index() {
			c.answer(h, slot, &wire.MetadataFetchResponse{
				CommittedIndex: int64(c.image.Index()) + c.more, SnapshotIndex: -1,
			})
			return
		}
		c.waiting = append(c.waiting, slot)
	} else if _, beat := req.Body.(*kmsg.BrokerHeartbeatRequest); !c.silent && (beat || !c.undecided) {
		if answer := c.decide(req.Body); !c.deaf {
			c.answer(h, slot, answer)
		}
	}
	c.publish(h)
}

// leadsNot is what a controller says that does not lead; it knows who does.
func (c *standIn) leadsNot(h *harness, body any) kmsg.Response {
	switch body.(type) {
	case *wire.MetadataFetchRequest:
		r := &wire.MetadataFetchResponse{
			ErrorCode: int16(kafka.NotController), LeaderID: -1, SnapshotIndex: -1,
		}
		for _, k := range h.config.Controllers {
			if k.Addr == c.leader && !c.hintless {
				r.LeaderID = int32(k.Node)
			}
		}
		if c.joined.Addr != "" {
			r.LeaderID, r.LeaderAddress = int32(c.joined.Node), c.joined.Addr
		}
		return r
	case *kmsg.BrokerHeartbeatRequest:
		r := kmsg.NewPtrBrokerHeartbeatResponse()
		r.ErrorCode = int16(kafka.NotController)
		return r
	case *kmsg.BrokerRegistrationRequest:
		r := kmsg.NewPtrBrokerRegistrationResponse()
		r.ErrorCode = int16(kafka.NotController)
		return r
	case *kmsg.AllocateProducerIDsRequest:
		r := kmsg.NewPtrAllocateProducerIDsResponse()
		r.ErrorCode = int16(kafka.NotController)
		return r
	}
	panic(fmt.Sprintf("stand-in controller: %T", body))
}

func (c *standIn) answer(h *harness, slot env.Slot, m kmsg.Response) {
	h.answers = append(h.answers, env.Event{
		Kind: env.EventResponse, Conn: h.link, Slot: slot,
		Res: m,
	})
}

// expire ends the wait of metadata fetches for which there is nothing new.
func (c *standIn) expire(h *harness) []env.Event {
	events := []env.Event{{Kind: env.EventTick}}
	for _, slot := range c.waiting {
		events = append(events, env.Event{
			Kind: env.EventResponse, Conn: h.link, Slot: slot,
			Res: &wire.MetadataFetchResponse{
				CommittedIndex: int64(h.broker.image.Index()), SnapshotIndex: -1,
			},
		})
	}
	c.waiting = nil
	return events
}

// publish answers the metadata fetches that wait, when there is something new.
func (c *standIn) publish(h *harness) {
	from := h.broker.image.Index()
	if from >= c.image.Index() {
		return
	}
	for _, slot := range c.waiting {
		m := &wire.MetadataFetchResponse{
			CommittedIndex: int64(c.image.Index()) + c.more, SnapshotIndex: -1,
		}
		for i := from + 1; i <= c.image.Index(); i++ {
			m.Entries = append(m.Entries, wire.MetadataEntry{Index: int64(i), Record: c.entries[i-1]})
		}
		c.answer(h, slot, m)
	}
	c.waiting = nil
}

func (c *standIn) decide(body any) kmsg.Response {
	switch m := body.(type) {
	case *kmsg.BrokerRegistrationRequest:
		if c.duplicate {
			r := kmsg.NewPtrBrokerRegistrationResponse()
			r.ErrorCode = int16(kafka.DuplicateBrokerRegistration)
			return r
		}
		return c.register(m)
	case *kmsg.BrokerHeartbeatRequest:
		broker := c.image.Broker(kafka.BrokerID(m.BrokerID))
		if c.stale {
			c.stale = false
			other := *broker // another process with this id has registered
			other.Epoch, other.Incarnation[0] = -1, broker.Incarnation[0]+100
			if !c.copied {
				other.Directories = []metadata.DirectoryID{{1}}
			}
			c.commit(&metadata.BrokerRecord{Broker: other})
			r := kmsg.NewPtrBrokerHeartbeatResponse()
			r.ErrorCode = int16(kafka.StaleBrokerEpoch)
			return r
		}
		if broker.Fenced && !m.WantFence {
			beat := metadata.Beat{Broker: broker.ID, Epoch: broker.Epoch, Index: c.image.Index()}
			records, _, _ := metadata.Heartbeat(c.image, &beat, nil)
			c.commit(records...)
		}
		r := kmsg.NewPtrBrokerHeartbeatResponse()
		r.ShouldShutdown = m.WantShutdown && c.release
		return r
	case *kmsg.AlterPartitionRequest:
		return c.alterPartition(m)
	case *kmsg.AllocateProducerIDsRequest:
		r := kmsg.NewPtrAllocateProducerIDsResponse()
		r.ProducerIDStart, r.ProducerIDLen = int64(c.image.NextProducerID()), 3
		c.commit(&metadata.ProducerIDsRecord{
			Next:   c.image.NextProducerID() + 3,
			Broker: kafka.BrokerID(m.BrokerID), BrokerEpoch: kafka.BrokerEpoch(m.BrokerEpoch),
		})
		return r
	case *kmsg.CreateTopicsRequest:
		r := kmsg.NewPtrCreateTopicsResponse()
		for i := range m.Topics {
			r.Topics = append(r.Topics, c.create(&m.Topics[i]))
		}
		return r
	case *kmsg.DeleteTopicsRequest:
		r := kmsg.NewPtrDeleteTopicsResponse()
		for _, t := range m.Topics {
			d := kmsg.NewDeleteTopicsResponseTopic()
			topic := c.image.Topic(*t.Topic)
			d.Topic, d.TopicID = t.Topic, topic.ID
			c.commit(&metadata.TopicRemovalRecord{ID: topic.ID})
			r.Topics = append(r.Topics, d)
		}
		return r
	}
	return c.administer(body)
}

func (c *standIn) register(m *kmsg.BrokerRegistrationRequest) kmsg.Response {
	c.claims = append(c.claims, m.PreviousBrokerEpoch)
	r := kmsg.NewPtrBrokerRegistrationResponse()
	asked := metadata.Registration{PreviousEpoch: kafka.BrokerEpoch(m.PreviousBrokerEpoch)}
	b := &asked.Broker
	b.ID, b.Incarnation = kafka.BrokerID(m.BrokerID), m.IncarnationID
	b.Features = metadata.BuildLevels().Features()
	for _, l := range m.Listeners {
		b.Endpoints = append(b.Endpoints, metadata.Endpoint{Name: l.Name, Host: l.Host, Port: l.Port})
	}
	for _, d := range m.LogDirs {
		b.Directories = append(b.Directories, d)
	}
	records, _, _ := metadata.RegisterBroker(c.image, &asked, false)
	c.commit(records...)
	r.BrokerEpoch = int64(c.image.Index())
	return r
}

// alterPartition decides as the controller does.
func (c *standIn) alterPartition(m *kmsg.AlterPartitionRequest) kmsg.Response {
	answer := kmsg.NewPtrAlterPartitionResponse()
	for _, t := range m.Topics {
		out := kmsg.NewAlterPartitionResponseTopic()
		out.TopidID = t.TopicID
		for _, p := range t.Partitions {
			change := metadata.ISRChange{
				TopicID: t.TopicID, ID: kafka.PartitionID(p.Partition), Recovering: p.LeaderRecoveryState != 0,
				LeaderEpoch: kafka.LeaderEpoch(p.LeaderEpoch), PartitionEpoch: kafka.PartitionEpoch(p.PartitionEpoch),
			}
			for _, e := range p.NewEpochISR {
				change.ISR = append(change.ISR, metadata.ISRMember{
					Broker: kafka.BrokerID(e.BrokerID), Epoch: kafka.BrokerEpoch(e.BrokerEpoch),
				})
			}
			records, outcomes, code := metadata.AlterPartition(c.image, kafka.BrokerID(m.BrokerID),
				kafka.BrokerEpoch(m.BrokerEpoch), []metadata.ISRChange{change})
			if answer.ErrorCode = int16(code); code != kafka.None {
				return answer
			}
			altered := kmsg.NewAlterPartitionResponseTopicPartition()
			altered.Partition, altered.ErrorCode = p.Partition, int16(outcomes[0].Error)
			if s := outcomes[0].State; s != nil {
				altered.LeaderID, altered.LeaderEpoch = int32(s.Leader), int32(s.LeaderEpoch)
				altered.PartitionEpoch = int32(s.Epoch)
				for _, id := range s.ISR {
					altered.ISR = append(altered.ISR, int32(id))
				}
			}
			if len(records) > 0 {
				c.commit(records...)
			}
			out.Partitions = append(out.Partitions, altered)
		}
		answer.Topics = append(answer.Topics, out)
	}
	return answer
}

func (c *standIn) delete(id kafka.TopicID) { c.commit(&metadata.TopicRemovalRecord{ID: id}) }

// lead bumps the leader epoch of a partition, and gives it a leader.
func (c *standIn) lead(name string, id kafka.PartitionID, epoch kafka.LeaderEpoch,
	leader kafka.BrokerID,
) {
	topic := c.image.Topic(name)
	p := *topic.Partition(id)
	p.LeaderEpoch, p.Leader = epoch, leader
	p.Epoch++
	if !p.HasReplica(leader) {
		p.Replicas = append(slices.Clone(p.Replicas), leader)
		p.ISR = append(slices.Clone(p.ISR), leader)
	}
	c.commit(&metadata.PartitionRecord{TopicID: topic.ID, ID: id, Partition: p})
}

func (c *standIn) create(t *kmsg.CreateTopicsRequestTopic) kmsg.CreateTopicsResponseTopic {
	r := kmsg.NewCreateTopicsResponseTopic()
	r.Topic, r.NumPartitions, r.ReplicationFactor = t.Topic, t.NumPartitions, 1
	if c.image.Topic(t.Topic) != nil {
		r.ErrorCode = int16(kafka.TopicAlreadyExists)
		return r
	}
	c.topics++
	topic := &metadata.TopicRecord{ID: kafka.TopicID{15: c.topics}, Name: t.Topic}
	r.TopicID = topic.ID
	for _, e := range t.Configs {
		topic.Configs = append(topic.Configs, metadata.ConfigEntry{Name: e.Name, Value: *e.Value})
	}
	records := []metadata.Record{topic}
	for id := range t.NumPartitions {
		records = append(records, &metadata.PartitionRecord{
			TopicID: topic.ID,
			ID:      kafka.PartitionID(id), Partition: metadata.Partition{
				Replicas: []kafka.BrokerID{1},
				Standing: metadata.Standing{ISR: []kafka.BrokerID{1}, Leader: 1, LastKnownLeader: kafka.NoBroker},
			},
		})
	}
	c.commit(records...)
	return r
}
