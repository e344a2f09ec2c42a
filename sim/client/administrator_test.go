package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
	"stet/sim"
)

// answers is a script that answers every kind of request that an administrator has with a code.
func answers(f *fake, code kafka.ErrorCode) func(*asked) action {
	c := int16(code)
	return func(a *asked) action {
		res := a.Request.ResponseKind()
		res.SetVersion(a.GetVersion())
		switch r := res.(type) {
		case *kmsg.CreateTopicsResponse:
			r.Topics = []kmsg.CreateTopicsResponseTopic{{Topic: "orders", TopicID: f.topicID, ErrorCode: c}}
		case *kmsg.DeleteTopicsResponse:
			r.Topics = []kmsg.DeleteTopicsResponseTopic{{ErrorCode: c}}
		case *kmsg.CreatePartitionsResponse:
			r.Topics = []kmsg.CreatePartitionsResponseTopic{{Topic: "orders", ErrorCode: c}}
		case *kmsg.IncrementalAlterConfigsResponse:
			r.Resources = []kmsg.IncrementalAlterConfigsResponseResource{{ErrorCode: c}}
		case *kmsg.DescribeConfigsResponse:
			value := "7"
			r.Resources = []kmsg.DescribeConfigsResponseResource{{ErrorCode: c, Configs: []kmsg.DescribeConfigsResponseResourceConfig{
				{Name: "other", Value: &value, Source: kmsg.ConfigSourceDynamicTopicConfig},
				{Name: "k", Value: &value, Source: kmsg.ConfigSourceDynamicTopicConfig},
				{Name: "default", Value: &value, Source: kmsg.ConfigSourceDefaultConfig},
			}}}
		case *kmsg.InitProducerIDResponse:
			r.ErrorCode, r.ProducerID = c, 12
		case *kmsg.UpdateFeaturesResponse:
			r.Results = []kmsg.UpdateFeaturesResponseResult{{ErrorCode: c}}
		case *kmsg.AddRaftVoterResponse:
			r.ErrorCode = c
		case *kmsg.RemoveRaftVoterResponse:
			r.ErrorCode = c
		default:
			return nil
		}
		return func() { a.answer(res) }
	}
}

// adminCalls are the calls of an administrator that are answered with a code.
var adminCalls = []func(*Administrator) kafka.ErrorCode{
	func(a *Administrator) kafka.ErrorCode {
		_, code := a.CreateTopic(NewTopic{Name: "orders", Partitions: 3, Replicas: 2, Key: "k", Value: "v"})
		return code
	},
	func(a *Administrator) kafka.ErrorCode { return a.DeleteTopic("orders", kafka.TopicID{}) },
	func(a *Administrator) kafka.ErrorCode { return a.GrowTopic("orders", 5) },
	func(a *Administrator) kafka.ErrorCode { return a.Set(kmsg.ConfigResourceTypeTopic, "orders", "k", "v") },
	func(a *Administrator) kafka.ErrorCode {
		_, code := a.Get(kmsg.ConfigResourceTypeTopic, "orders", "k")
		return code
	},
	func(a *Administrator) kafka.ErrorCode { _, code := a.ProducerID(); return code },
	func(a *Administrator) kafka.ErrorCode { return a.SetLevel("stet.version", 3, 1) },
	func(a *Administrator) kafka.ErrorCode { return a.AddVoter(Voter{Node: 4}) },
	func(a *Administrator) kafka.ErrorCode { return a.RemoveVoter(Voter{Node: 4}) },
}

// refuser counts connections and takes none.
type refuser struct{ asked *int }

func (r refuser) Accept(env.ConnWriter, env.ConnInfo) env.ConnReader {
	*r.asked++
	return nil
}

func (f *fake) administrator() *Administrator {
	return &Administrator{Host: f.host, Servers: []Server{{1, f.host.Addr}}}
}

func TestEveryCodeOfAnAdministratorIsReturned(t *testing.T) {
	for _, c := range adminCalls {
		for _, want := range []kafka.ErrorCode{kafka.None, kafka.NotController} {
			f := newFake(t, 1)
			f.script = answers(f, want)
			require.True(t, f.do(func() { require.Equal(t, want, c(f.administrator())) }))
		}
	}
}

func TestAnAdministratorWithoutAnAnswerSaysSoAndDialsAgain(t *testing.T) {
	for _, c := range adminCalls {
		f := newFake(t, 1)
		f.script = func(*asked) action { return func() {} }
		a := f.administrator()
		require.True(t, f.do(func() {
			require.Equal(t, kafka.NetworkException, c(a))
			require.Equal(t, kafka.NetworkException, c(a))
		}))
		require.Equal(t, 2, f.conns)
	}
}

func TestASettingThatNobodyHasSetIsEmpty(t *testing.T) {
	f := newFake(t, 1)
	f.script = answers(f, kafka.None)
	a := f.administrator()
	require.True(t, f.do(func() {
		for key, want := range map[string]string{"k": "7", "default": "", "absent": ""} {
			value, code := a.Get(kmsg.ConfigResourceTypeTopic, "orders", key)
			require.Equal(t, kafka.None, code)
			require.Equal(t, want, value, key)
		}
	}))
}

func TestAnAdministratorAsksTheServerItPrefers(t *testing.T) {
	f := newFake(t, 1)
	f.script = answers(f, kafka.None)
	other := 0
	f.network.Listen(f.scheduler.NewOwner(2), "n2:9092", refuser{&other})
	a := f.administrator()
	a.Servers = append(a.Servers, Server{2, "n2:9092"})
	require.True(t, f.do(func() {
		for range 20 {
			a.Prefer(1)
			require.Equal(t, kafka.None, a.GrowTopic("orders", 2))
		}
		require.Zero(t, other)
		a.Prefer(2)
		require.Equal(t, kafka.NetworkException, a.GrowTopic("orders", 2))
		require.Equal(t, 1, other)
	}))
	require.Equal(t, 1, f.conns, "a connection that answers is kept")
}

func TestWhatACourierWritesItReads(t *testing.T) {
	f := newFake(t, 1)
	a := f.administrator()
	require.True(t, f.do(func() {
		layout, code := a.Layout("orders")
		require.Equal(t, kafka.None, code)
		require.Equal(t, f.topicID, layout.ID)
		require.Equal(t, Server{1, f.host.Addr}, layout.Leaders[1])
		to := Address{Name: "orders", ID: layout.ID, Partition: 1, Leader: layout.Leaders[1], Version: 9}
		base, code := a.Write(to, [][]byte{[]byte("x"), []byte("y")}, sim.WallEpochMs)
		require.Equal(t, kafka.None, code)
		require.EqualValues(t, 0, base)
		to.Version = 12
		records, next, high, code := a.Read(to, 1)
		require.Equal(t, kafka.None, code)
		require.EqualValues(t, 2, next)
		require.EqualValues(t, 2, high)
		require.Len(t, records, 1)
		require.Equal(t, "y", string(records[0].Value))
	}))
	require.Empty(t, f.seen.troubles)
}
