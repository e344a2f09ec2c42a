package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
)

func TestALoopThatKeepsItsProcessorBusyForNothingIsFound(t *testing.T) {
	for _, wake := range []env.Mono{0, 7, 8, env.Never} {
		i, found := idleTurns{now: 7, tick: true}, false
		func() {
			defer func() { found = recover() != nil }()
			for range mostIdleTurns {
				i.turned(&env.Effects{Wake: wake})
			}
		}()
		require.Equal(t, wake <= 7, found, "%d", wake)
	}
}
