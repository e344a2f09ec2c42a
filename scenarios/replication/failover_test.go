package replication

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/sim"
)

func TestAcknowledgedRecordsOutliveTheirLeader(t *testing.T) {
	seeds(t, func(t *testing.T, c *cluster) {
		c.produce(20)
		for range 3 {
			var leader *sim.Machine
			c.do("find the leader", func() { leader = c.leader() })
			require.NotNil(t, leader)
			leader.Kill()
			c.produce(20)
			leader.Start()
			c.until("it has come back", leader.Ready)
			c.produce(20)
			c.readBack()
		}
	})
}
