package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/sim"
)

func hello() *kmsg.ApiVersionsRequest {
	r := kmsg.NewPtrApiVersionsRequest()
	r.Version, r.ClientSoftwareName, r.ClientSoftwareVersion = 3, "x", "1"
	return r
}

func TestCallsAreAnsweredInTheOrderOfSending(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		if len(f.asked) < 3 {
			return ignore
		}
		return func() {
			for _, earlier := range f.asked {
				earlier.answer(f.handle(earlier.Request))
			}
		}
	}
	require.True(t, f.do(func() {
		c := f.host.Dial()
		calls := []*Call{c.Start(hello(), true), c.Start(hello(), true), c.Start(hello(), true)}
		c.Wait(calls[2])
		for _, call := range calls {
			require.True(t, call.Done)
			require.Equal(t, Answered, call.Ending)
			require.NotNil(t, call.Response)
		}
		c.Close()
	}))
	require.Equal(t, []int32{1, 2, 3}, []int32{
		f.asked[0].correlation, f.asked[1].correlation, f.asked[2].correlation,
	})
	require.Empty(t, f.seen.troubles)
}

func TestAnAnswerOutOfOrderEndsTheConnection(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		a.correlation++
		return nil
	}
	require.True(t, f.do(func() {
		c := f.host.Dial()
		require.Nil(t, c.Call(hello()))
		require.True(t, c.Closed())
	}))
	require.Equal(t, []string{"response out of order"}, f.seen.troubles)
}

func TestAnAnswerThatDoesNotDecodeEndsTheConnection(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		return func() { a.conn.send([]byte{0, 0, 0, 1, 0xff}) }
	}
	require.True(t, f.do(func() {
		c := f.host.Dial()
		call := c.Start(hello(), true)
		c.Wait(call)
		require.Equal(t, Lost, call.Ending)
		require.True(t, c.Closed())
	}))
	require.Len(t, f.seen.troubles, 1)
	require.Contains(t, f.seen.troubles[0], "response that does not decode")
}

func TestAnAbsurdSizeIsRefusedBeforeItIsRead(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action {
		return func() { a.conn.send([]byte{0, 0}) }
	}
	require.True(t, f.do(func() { require.Nil(t, f.host.Dial().Call(hello())) }))
	require.Equal(t, []string{"response of an absurd size"}, f.seen.troubles)
}

func TestAnImpatientClientGivesTheConnectionUp(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(*asked) action { return ignore }
	require.True(t, f.do(func() {
		c := f.host.Dial()
		begun := f.scheduler.Now()
		first, second := c.Start(hello(), true), c.Start(hello(), true)
		c.Wait(first)
		require.Equal(t, Lost, first.Ending)
		require.Equal(t, Lost, second.Ending, "what is behind it on the connection is lost as well")
		require.InDelta(t, int64(sim.Second), int64(f.scheduler.Now()-begun), float64(sim.Millisecond))
		require.Equal(t, NotSent, c.Start(hello(), true).Ending, "on a closed connection")
	}))
	f.scheduler.RunUntil(f.scheduler.Now()+sim.Second, nil)
	require.True(t, f.asked[0].conn.closed, "the broker is told")
}

func TestACallWithoutAnswerEndsWhenItIsSent(t *testing.T) {
	f := newFake(t, 1)
	require.True(t, f.do(func() {
		call := f.host.Dial().Start(hello(), false)
		require.True(t, call.Done)
		require.Equal(t, Lost, call.Ending, "nobody knows whether it arrives")
	}))
}

func TestNobodyListens(t *testing.T) {
	f := newFake(t, 1)
	f.scheduler.Kill(f.owner, sim.Killed)
	require.True(t, f.do(func() {
		c := f.host.Dial()
		require.False(t, c.Hello(3))
		require.True(t, c.Closed())
		_, code := c.Metadata(12)
		require.Equal(t, kafka.NetworkException, code)
		require.Equal(t, kafka.NetworkException, c.CreateTopic(1, nil, nil))
		require.Equal(t, kafka.NetworkException, c.DeleteTopic())
		l := &List{}
		c.List(l)
		require.False(t, l.Answered)
		require.Equal(t, kafka.NoOffset, l.Offset)
	}))
	require.Empty(t, f.seen.lists)
}

func TestAConnectionThatBreaksEndsItsCalls(t *testing.T) {
	f := newFake(t, 1)
	f.script = func(a *asked) action { return a.hangUp }
	require.True(t, f.do(func() {
		c := f.host.Dial()
		call := c.Start(hello(), true)
		c.Wait(call)
		require.Equal(t, Lost, call.Ending)
		require.Less(t, f.scheduler.Now(), sim.Second, "it does not wait for the timeout")
	}))
}
