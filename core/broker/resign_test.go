package broker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/core/record"
)

// fenceLog fails a write of orders-0.
func (f *follows) fenceLog() {
	f.failOp = "write"
	f.ask(1, f.produceRequest("orders", 0, 1, batch(record.Plain(), f.now.WallMs, "lost")))
	for f.replica(0).State() != partition.Fenced {
		require.True(f.t, f.step())
	}
}

// loseRecords has the log of orders-0 lose everything before it is recovered.
func (f *follows) loseRecords() {
	f.fenceLog()
	file, errno := f.world.Disk.Open(env.Path{Name: "orders-0/00000000000000000000.log"}, env.OpenWrite)
	require.Equal(f.t, env.OK, errno)
	require.Equal(f.t, env.OK, file.Truncate(0))
	f.deliver()
}

func TestLeaderThatHasLostRecordsGivesTheLeadershipUp(t *testing.T) {
	f := leaderHarness(t, 1)
	f.leaders.listen("b2:9092")
	f.fetch(0, map[int32]kafka.Offset{0: 0})
	f.fetched()
	f.produceAll("a")
	f.fetch(0, map[int32]kafka.Offset{0: 1})
	f.fetched()
	f.loseRecords()
	p := f.controller.image.Topic("orders").Partition(0)
	require.EqualValues(t, 2, p.Leader)
	require.Equal(t, []kafka.BrokerID{2}, p.ISR)
	require.False(t, f.replica(0).Leading())
	require.EqualValues(t, 0, f.leaders.next(f.harness).named()[0].FetchOffset, "it copies what it has lost")
}

// If nobody else is in sync it goes on itself: what is lost is lost, but in a new epoch.
func TestLeaderThatIsAloneLeadsOnInANewEpoch(t *testing.T) {
	f := leaderHarness(t, 1)
	f.controller.isr("orders", 0, 1)
	f.update()
	before := f.controller.image.Topic("orders").Partition(0).LeaderEpoch
	f.produceAll("a")
	f.loseRecords()
	p := f.controller.image.Topic("orders").Partition(0)
	require.EqualValues(t, 1, p.Leader)
	require.Equal(t, before+1, p.LeaderEpoch)
	require.False(t, p.Recovering, "what it has is what there is")
	f.take()
	f.produceAll("b")
	require.True(t, acknowledged(f.take()))
}

// A leader whose log can not be recovered lets another lead.
func TestLeaderWithoutALogGivesTheLeadershipUp(t *testing.T) {
	f := leaderHarness(t, 1)
	f.fenceLog()
	f.failOp = "list"
	f.deliver()
	require.EqualValues(t, 2, f.controller.image.Topic("orders").Partition(0).Leader)
}
