package controller

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/metadata"
	"stet/core/wire"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const rigConn env.ConnID = 7

// rig drives a controller over a disk in memory.
type rig struct {
	t       *testing.T
	config  Config
	random  *rand.Rand
	world   *logtest.World
	c       *Controller
	now     env.Now
	out     env.Effects
	slot    env.Slot
	asked   map[env.Slot]kmsg.Request
	answers map[env.Slot]kmsg.Response
}

func newRig(t *testing.T, seed uint64) *rig {
	r := &rig{t: t, config: DefaultConfig(), random: rand.New(rand.NewPCG(seed, 1))}
	r.config.NodeID = 1
	r.world = logtest.NewWorld(r.random)
	r.reset()
	return r
}

// reset forgets the process; the disk stays.
func (r *rig) reset() {
	r.world.Crash()
	r.asked, r.answers = map[env.Slot]kmsg.Request{}, map[env.Slot]kmsg.Response{}
	r.c = New(&r.config, env.Identity{}, func(env.Use) *rand.Rand { return r.random })
	r.out.Reset()
}

// boot runs the controller until nothing is left to do.
func (r *rig) boot() {
	r.turn(env.Event{Kind: env.EventTick})
	r.settle()
}

func (r *rig) turn(in ...env.Event) {
	r.c.Turn(r.now, in, &r.out)
	for _, op := range r.out.Conn {
		require.Equal(r.t, env.ConnRespond, op.Op)
		asked := r.asked[op.Slot]
		require.NotNil(r.t, asked, "a slot is answered twice or was never asked")
		delete(r.asked, op.Slot)
		frame := append([]byte(nil), r.out.Bytes[op.Head.Start:op.Head.End]...)
		answer, err := wire.DecodeResponse(asked.Key(), asked.GetVersion(), frame)
		require.NoError(r.t, err)
		r.answers[op.Slot] = answer
	}
	r.world.Perform(&r.out)
}

// step performs one effect and delivers its event.
func (r *rig) step() bool {
	ev, ok := r.world.Step()
	if ok && (ev.Token != 0 || ev.Err != env.OK) {
		r.turn(ev)
	}
	return ok
}

func (r *rig) settle() {
	for r.step() {
	}
}

// send delivers a request and returns its slot.
func (r *rig) send(body kmsg.Request) env.Slot {
	r.slot++
	slot := r.slot
	r.asked[slot] = body
	r.turn(env.Event{Kind: env.EventRequest, Conn: rigConn, Slot: slot, Req: &env.Request{
		Conn: rigConn, Slot: slot, Key: body.Key(), Version: body.GetVersion(),
		Correlation: int32(slot), Body: body,
	}})
	return slot
}

// call sends a request and waits for the answer.
func (r *rig) call(body kmsg.Request) kmsg.Response {
	slot := r.send(body)
	for r.answers[slot] == nil && r.step() {
	}
	require.NotNil(r.t, r.answers[slot], "no answer to %T", body)
	return r.answers[slot]
}

func (r *rig) register(incarnation byte) int64 {
	answer := r.call(registrationRequest(incarnation)).(*kmsg.BrokerRegistrationResponse)
	require.Zero(r.t, answer.ErrorCode)
	return answer.BrokerEpoch
}

func registrationRequest(incarnation byte) *kmsg.BrokerRegistrationRequest {
	m := kmsg.NewPtrBrokerRegistrationRequest()
	m.Version, m.BrokerID, m.IncarnationID = 4, 1, [16]byte{incarnation}
	l := kmsg.NewBrokerRegistrationRequestListener()
	l.Name, l.Host, l.Port = "PLAINTEXT", "localhost", 9092
	m.Listeners = append(m.Listeners, l)
	m.LogDirs = [][16]byte{{9}}
	for _, f := range metadata.BuildLevels().Features() {
		feature := kmsg.NewBrokerRegistrationRequestFeature()
		feature.Name, feature.MinSupportedVersion, feature.MaxSupportedVersion = f.Name, f.Min, f.Max
		m.Features = append(m.Features, feature)
	}
	return m
}

func (r *rig) beat(epoch int64) *kmsg.BrokerHeartbeatResponse {
	return r.call(beatRequest(epoch)).(*kmsg.BrokerHeartbeatResponse)
}

func beatRequest(epoch int64) *kmsg.BrokerHeartbeatRequest {
	m := kmsg.NewPtrBrokerHeartbeatRequest()
	m.Version, m.BrokerID, m.BrokerEpoch = 1, 1, epoch
	m.CurrentMetadataOffset = epoch
	return m
}

// join registers broker 1 and has it unfenced.
func (r *rig) join(incarnation byte) int64 {
	epoch := r.register(incarnation)
	require.Zero(r.t, r.beat(epoch).ErrorCode)
	return epoch
}

func creationRequest(partitions int32, names ...string) *kmsg.CreateTopicsRequest {
	m := kmsg.NewPtrCreateTopicsRequest()
	m.Version = 7
	for _, name := range names {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, -1
		m.Topics = append(m.Topics, t)
	}
	return m
}

func deletionRequest(name string) *kmsg.DeleteTopicsRequest {
	m := kmsg.NewPtrDeleteTopicsRequest()
	m.Version = 6
	t := kmsg.NewDeleteTopicsRequestTopic()
	t.Topic = &name
	m.Topics = append(m.Topics, t)
	return m
}

func allocationRequest(epoch int64) *kmsg.AllocateProducerIDsRequest {
	m := kmsg.NewPtrAllocateProducerIDsRequest()
	m.BrokerID, m.BrokerEpoch = 1, epoch
	return m
}

func topicNumber(i int) string { return fmt.Sprintf("topic-%d", i) }
