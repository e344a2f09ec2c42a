package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/node"
)

// lifeTap notes how far each loop of a node is when the other turns.
type lifeTap struct {
	m                     *Machine
	turns                 [node.LoopCount]int
	openedBefore          bool // the controller had opened before the broker's first turn
	brokerStoppedBefore   bool // the broker had stopped before the controller was asked to
	controllerToldOfAStop bool
}

func (p *lifeTap) Turning(l node.LoopID, _ env.Now, in []env.Event) {
	n := p.m.Node()
	if l == node.BrokerLoop && p.turns[l] == 0 {
		p.openedBefore = n.Loop(node.ControllerLoop).Core().(*controller.Controller).Opened()
	}
	for i := range in {
		if _, stop := in[i].Res.(controller.Shutdown); stop {
			p.controllerToldOfAStop = true
			p.brokerStoppedBefore = p.turns[node.BrokerLoop] > 0 && n.Loop(node.BrokerLoop).Core().(*broker.Broker).Stopped()
		}
	}
	p.turns[l]++
}

func (p *lifeTap) Turned(node.LoopID, *env.Effects) {}

func TestABrokerBeginsAfterItsControllerAndStopsBefore(t *testing.T) {
	w := NewWorld(1)
	defer w.Close()
	m := w.AddMachine(testNodeConfig())
	tap := &lifeTap{m: m}
	m.Tap = tap
	m.Start()
	require.False(t, w.Run(10*Second, m.Ready))
	require.True(t, tap.openedBefore)
	m.Stop()
	require.False(t, w.Run(10*Second, func() bool { return !m.Running() }))
	require.NoError(t, m.Fatal())
	require.True(t, tap.controllerToldOfAStop)
	require.True(t, tap.brokerStoppedBefore)
}

func TestANodeThatIsStoppedBeforeItsControllerHasOpenedStops(t *testing.T) {
	w := NewWorld(1)
	defer w.Close()
	m := w.AddMachine(testNodeConfig())
	tap := &lifeTap{m: m}
	m.Tap = tap
	m.Start()
	require.False(t, w.Run(Second, func() bool { return tap.turns[node.ControllerLoop] > 0 }))
	m.Stop()
	require.False(t, w.Run(10*Second, func() bool { return !m.Running() }))
	require.NoError(t, m.Fatal())
	require.Zero(t, tap.turns[node.BrokerLoop], "the broker never began")
}

func TestAControllerAloneIsReadyOnceItHasReadItsDirectory(t *testing.T) {
	w := NewWorld(1)
	defer w.Close()
	c := testNodeConfig()
	c.Roles = node.Roles{Controller: true}
	m := w.AddMachine(c)
	m.Start()
	require.False(t, w.Run(10*Second, m.Ready))
	require.Nil(t, m.Node().Loop(node.BrokerLoop))
	m.Stop()
	require.False(t, w.Run(10*Second, func() bool { return !m.Running() }))
	require.NoError(t, m.Fatal())
}

func TestABrokerAloneWithoutAControllerStopsWhenItIsAskedTo(t *testing.T) {
	w := NewWorld(1)
	defer w.Close()
	_, m := apart(w)
	m.Start()
	w.Run(5*Second, nil)
	require.False(t, m.Ready())
	m.Stop()
	require.False(t, w.Run(Minute, func() bool { return !m.Running() }))
	require.NoError(t, m.Fatal())
}
