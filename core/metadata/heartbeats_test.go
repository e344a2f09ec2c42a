package metadata

import (
	"testing"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
)

func TestHeartbeatUnfencesOnceTheBrokerHasSeenItself(t *testing.T) {
	records, _, _ := RegisterBroker(clusterOf(t, 1), registrationOf(7, 1), false)
	image := decide(t, clusterOf(t, 1), records)
	epoch := image.Broker(7).Epoch
	beat := func(b Beat) ([]Record, BeatOutcome, kafka.ErrorCode) {
		b.Broker = 7
		return Heartbeat(image, &b, nil)
	}
	for name, c := range map[string]struct {
		beat Beat
		want BeatOutcome
	}{
		"behind":          {Beat{Epoch: epoch, Index: Index(epoch) - 1}, BeatOutcome{Fenced: true}},
		"wants its fence": {Beat{Epoch: epoch, Index: Index(epoch), WantFence: true}, BeatOutcome{CaughtUp: true, Fenced: true}},
		"wants to stop":   {Beat{Epoch: epoch, WantShutdown: true}, BeatOutcome{Fenced: true, MayStop: true}},
	} {
		records, out, code := beat(c.beat)
		require.Equal(t, kafka.None, code, name)
		require.Equal(t, c.want, out, name)
		require.Empty(t, records, name)
	}
	_, _, code := beat(Beat{Epoch: epoch - 1, Index: Index(epoch)})
	require.Equal(t, kafka.StaleBrokerEpoch, code)
	_, _, code = Heartbeat(image, &Beat{Broker: 8, Epoch: epoch}, nil)
	require.Equal(t, kafka.BrokerIDNotRegistered, code)

	image = unfenced(t, image, 7)
	require.True(t, image.Broker(7).Active())
	records, out, code := beat(Beat{Epoch: epoch, Index: image.Index()})
	require.Equal(t, kafka.None, code)
	require.Equal(t, BeatOutcome{CaughtUp: true}, out)
	require.Empty(t, records, "an active broker's heartbeat costs no entry")
	records, out, _ = beat(Beat{Epoch: epoch, Index: image.Index(), WantFence: true})
	require.True(t, out.Fenced)
	require.True(t, decide(t, image, records).Broker(7).Fenced)
}

func TestBrokerStopsWhenAllOthersKnowThatItLeadsNothing(t *testing.T) {
	image := threeReplicas(t)
	seen := map[kafka.BrokerID]Index{}
	beat := func(want bool) BeatOutcome {
		b := Beat{Broker: 2, Epoch: image.Broker(2).Epoch, Index: image.Index(), WantShutdown: want}
		records, out, code := Heartbeat(image, &b, func(id kafka.BrokerID) Index { return seen[id] })
		require.Equal(t, kafka.None, code)
		if len(records) > 0 {
			image = decide(t, image, records)
		}
		return out
	}
	wait, stop := BeatOutcome{CaughtUp: true}, BeatOutcome{CaughtUp: true, Fenced: true, MayStop: true}
	seen[1], seen[3] = 1000, 1000 // of nothing that concerns this
	require.Equal(t, wait, beat(true))
	from := image.Broker(2).StoppingFrom
	require.Equal(t, image.Index(), from)
	each(image, image, func(_ int, _, p *Partition) {
		require.Equal(t, ids(1, 3), p.ISR)
		require.NotEqual(t, kafka.BrokerID(2), p.Leader)
	})
	seen[1], seen[3] = from, from-1
	require.Equal(t, wait, beat(true))
	require.Equal(t, wait, beat(false), "there is no way back")
	require.Equal(t, from, image.Broker(2).StoppingFrom)
	image = fence(t, image, 1)
	require.Equal(t, wait, beat(true))
	seen[1], seen[3] = 0, from // a fenced broker serves no clients
	require.Equal(t, stop, beat(true))
	require.True(t, image.Broker(2).Fenced)
	require.False(t, image.Broker(2).Stopping())
	require.Equal(t, stop, beat(true))
}

func TestLastBrokerStopsAtOnce(t *testing.T) {
	image := fence(t, threeReplicas(t), 1, 2)
	records, out, code := Heartbeat(image, &Beat{
		Broker: 3, Epoch: image.Broker(3).Epoch, Index: image.Index(), WantShutdown: true,
	}, nil)
	require.Equal(t, kafka.None, code)
	require.Equal(t, BeatOutcome{CaughtUp: true, Fenced: true, MayStop: true}, out)
	after := decide(t, image, records)
	require.True(t, after.Broker(3).Fenced)
	each(image, after, func(_ int, _, p *Partition) {
		require.Equal(t, Standing{nil, ids(1, 2, 3), kafka.NoBroker, 3, false}, p.Standing)
	})
}
