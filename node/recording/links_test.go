package recording

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"
	"stet/node"
)

// dialEffects is a turn that dials addr.
func dialEffects(link env.ConnID, addr string) *env.Effects {
	var out env.Effects
	out.Reset()
	out.Bytes = append(out.Bytes, addr...)
	out.Conn = append(out.Conn, env.ConnOp{Op: env.ConnDial, Conn: link, Head: out.SpanFrom(0)})
	return &out
}

func TestTheHashCoversWhatIsDialled(t *testing.T) {
	var h hasher
	base := h.effects(dialEffects(env.MakeLinkID(1), "n1:9093"))
	require.Equal(t, base, h.effects(dialEffects(env.MakeLinkID(1), "n1:9093")))
	require.NotEqual(t, base, h.effects(dialEffects(env.MakeLinkID(2), "n1:9093")))
	require.NotEqual(t, base, h.effects(dialEffects(env.MakeLinkID(1), "n2:9093")))
	require.NotEqual(t, base, h.effects(dialEffects(env.MakeLinkID(1), "")))
}

func TestEventsOfALinkAreReadBack(t *testing.T) {
	link := env.MakeLinkID(3)
	heartbeat := kmsg.NewPtrBrokerHeartbeatResponse()
	heartbeat.IsFenced = true
	for _, ev := range []env.Event{
		{Kind: env.EventConnOpened, Conn: link, Info: &env.ConnInfo{Remote: "n1", Principal: "p"}},
		{Kind: env.EventResponse, Conn: link, Slot: 7, N: 20, Res: heartbeat},
		{
			Kind: env.EventResponse, Conn: link, Slot: 8, N: 30,
			Res: &wire.MetadataFetchResponse{LeaderID: 4},
		},
		{Kind: env.EventConnClosed, Conn: link, Err: env.ERefused},
	} {
		packed := pack(&ev)
		line := appendTurn(nil, &turn{Loop: node.BrokerLoop, Events: []event{packed}})
		p := player{types: resultTypes(), cores: [node.LoopCount]node.Core{nowhere{}, nowhere{}}}
		back, err := p.parse(line)
		require.NoError(t, err)
		got, err := newUnpacker().unpack(node.BrokerLoop, &back.Events[0])
		require.NoError(t, err)
		require.Equal(t, ev, got)
	}
}

type nowhere struct{}

func (nowhere) Turn(env.Now, []env.Event, *env.Effects) {}

func among(roles node.Roles) *node.Config {
	c := &node.Config{Roles: roles, Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig()}
	c.Broker.NodeID, c.Controller.NodeID = 1, 1
	c.Controller.Controllers = []kafka.ControllerAddress{{Node: 1}, {Node: 2, Addr: "b:1"}, {Node: 3, Addr: "c:1"}}
	return c
}

func TestOfANodeAmongSeveralControllersOnlyTheBrokerIsRecorded(t *testing.T) {
	var file bytes.Buffer
	config := among(node.Roles{})
	r, err := NewRecorder(&file, [32]byte{}, config, env.Identity{})
	require.NoError(t, err)
	core := broker.New(&config.Filled().Broker, env.Identity{}, streams([32]byte{}))
	var out env.Effects
	for i := range 6 {
		in := []env.Event{{Kind: env.EventTick}}
		l := node.LoopID(i % 2)
		out.Reset()
		r.Turning(l, env.Now{}, in)
		if l == node.BrokerLoop {
			core.Turn(env.Now{}, in, &out)
		} else {
			out.Wake = env.Mono(i) // nothing that could be replayed
		}
		r.Turned(l, &out)
	}
	require.NoError(t, r.Close())
	res, err := Replay(&file, streams)
	require.NoError(t, err)
	require.Equal(t, Result{Turns: 3, Events: 3}, res)
}

func TestAControllerAmongSeveralIsNotRecorded(t *testing.T) {
	_, err := NewRecorder(&bytes.Buffer{}, [32]byte{}, among(node.Roles{Controller: true}), env.Identity{})
	require.ErrorContains(t, err, "election timeouts")
}
