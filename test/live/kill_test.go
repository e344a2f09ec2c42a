//go:build live

package live

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	rounds   = flag.Int("rounds", 20, "how often the broker is killed")
	killSeed = flag.Uint64("kill-seed", 0, "of the moments of killing; 0 draws one")
	minTorn  = flag.Int("torn", 1, "torn tails that have to occur over all rounds")
)

// TestAcknowledgedRecordsSurviveKill kills the broker again and again at random moments, with
// requests in flight, half of the bytes in requests of 8 MB. After each, all that was acknowledged
// in any round must read back unchanged, in order, once.
func TestAcknowledgedRecordsSurviveKill(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, 3))
	b := newBroker(t)
	require.NoError(t, b.Start())
	streams := []*stream{
		{topic: "huge", valueBytes: 1 << 20, values: 8, inFlight: 2},
		{topic: "small-a", valueBytes: 1 << 10, values: 1, inFlight: 5, pause: 100 * time.Microsecond},
		{topic: "small-b", valueBytes: 16 << 10, values: 40, inFlight: 5},
	}
	for _, s := range streams {
		createTopic(t, b, s.topic, 1, map[string]string{"max.message.bytes": "16777216"})
	}
	var torn, recovered, unanswered int
	var slowest time.Duration
	for round := range *rounds {
		moment := 50*time.Millisecond + time.Duration(random.Int64N(int64(350*time.Millisecond)))
		require.NoError(t, killRound(b, streams, moment), "round %d of seed %d", round, seed)
		tails, _, err := tornTails(b.Dir)
		require.NoError(t, err)
		torn += tails
		require.NoError(t, b.Start())
		slowest = max(slowest, b.Answered)
		c := dial(t, b)
		for _, s := range streams {
			require.NoError(t, s.verify(c), "round %d of seed %d", round, seed)
		}
		recovered++
	}
	require.NoError(t, b.Stop())
	acked := map[string]int{}
	for _, s := range streams {
		acked[s.topic] = len(s.acked)
		unanswered += s.unanswered
	}
	t.Logf("kill: rounds=%d seed=%d acked=%v unanswered=%d torn=%d slowest_restart=%v",
		recovered, seed, acked, unanswered, torn, slowest)
	require.NotZero(t, unanswered, "no request was in flight at any kill")
	require.GreaterOrEqual(t, torn, *minTorn, "no torn tail occurred")
}
