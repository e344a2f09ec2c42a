package replication

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
	"stet/sim/client"
)

// In flush mode acknowledged means synced wherever it counts, so that all may lose power at once, with
// nothing synced that was not asked for.
func TestPowerOfAllAtOnceLosesNothingInFlushMode(t *testing.T) {
	for seed := uint64(1); seed <= *seedCount; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newCluster(t, seed, nil)
			c.do("create a topic", func() {
				_, code := c.admin.CreateTopic(client.NewTopic{
					Name: "orders", Partitions: 1, Replicas: 3, Key: "flush.messages", Value: "1",
				})
				require.Equal(t, kafka.None, code)
			})
			for range 3 {
				c.produce(10)
				for _, m := range c.nodes {
					m.LosePower(nothing{})
				}
				for _, m := range c.nodes {
					m.Start()
				}
				c.topic = client.Layout{}
				c.produce(1)
				c.settled()
				c.readBack()
			}
		})
	}
}
