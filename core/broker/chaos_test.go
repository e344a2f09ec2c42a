package broker

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/core/record"
)

// chaos is an idempotent producer that sends one batch at a time, retries what it has no good
// answer to, and remembers what was acknowledged.
type chaos struct {
	*harness
	rt       *rapid.T
	sequence kafka.Sequence
	value    string // of the batch that is to be sent or sent again
	acked    map[int64]string
}

func (c *chaos) next() { c.value = fmt.Sprintf("v%d", c.sequence) }

func (c *chaos) send() {
	spec := record.Plain()
	spec.ProducerID, spec.ProducerEpoch, spec.BaseSequence = 7, 0, c.sequence
	c.ask(1, c.produceRequest("orders", 0, -1, batch(spec, c.now.WallMs, c.value)))
}

// hear takes the answers that have come. A duplicate of what was acknowledged before may not.
func (c *chaos) hear() {
	for _, r := range c.take() {
		m, ok := r.response.(*kmsg.ProduceResponse)
		if !ok {
			continue
		}
		p := m.Topics[0].Partitions[0]
		switch code := kafka.ErrorCode(p.ErrorCode); code {
		case kafka.None:
			if old, ok := c.acked[p.BaseOffset]; ok {
				require.Equal(c.rt, fmt.Sprintf("v%d", c.sequence-1), old)
				continue
			}
			c.acked[p.BaseOffset] = c.value
			c.sequence++
			c.next()
		case kafka.KafkaStorageError, kafka.NotLeaderOrFollower, kafka.RequestTimedOut:
		default:
			require.Fail(c.rt, "unexpected answer", code.String())
		}
	}
}

// TestAcknowledgedRecordsStand produces, retries, fails disks, kills and restarts at random, and
// then reads everything: what was acknowledged stands at its offset, once.
func TestAcknowledgedRecordsStand(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		flush := rapid.Bool().Draw(rt, "flush mode")
		h := newHarness(t, func(c *Config) { c.IndexWriteEntries = 1 })
		configs := []string{"segment.bytes", "1048576", "index.interval.bytes", "1"}
		if flush {
			configs = append(configs, "flush.messages", "1")
		}
		h.createTopic("orders", 1, configs...)
		c := &chaos{harness: h, rt: rt, acked: map[int64]string{}}
		c.next()
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			c.act(flush)
			c.hear()
		}
		c.heal()
		c.check()
	})
}

func (c *chaos) act(flush bool) {
	switch rapid.IntRange(0, 12).Draw(c.rt, "act") {
	case 0, 1, 2, 3:
		c.send()
	case 4, 5:
		c.deliver()
	case 6, 7:
		for range rapid.IntRange(1, 4).Draw(c.rt, "operations") {
			c.step()
		}
	case 8:
		c.failOp = rapid.SampledFrom([]string{
			"write", "sync", "read", "open", "rename",
			"create", "syncdir",
		}).Draw(c.rt, "fails")
	case 9:
		c.tick(rapid.SampledFrom([]int64{1, 100, 30_000, 60_000}).Draw(c.rt, "ms"))
		c.sent()
	case 10:
		c.ask(2, c.fetchRequest("orders", int64(rapid.IntRange(0, 3).Draw(c.rt, "from")), 0))
	case 11:
		c.restart(flush)
	case 12:
		c.controller.lead("orders", 0, c.controller.image.Topic("orders").Partition(0).LeaderEpoch+1, 1)
		c.controller.publish(c.harness)
	}
}

// restart ends the process in some way and begins the next. Whatever was asked and not answered
// is asked again.
func (c *chaos) restart(flush bool) {
	c.failOp = ""
	switch how := rapid.SampledFrom([]string{"stop", "kill", "power"}).Draw(c.rt, "end"); {
	case how == "stop":
		c.sent()
		c.stop()
		c.hear()
	case how == "power" && flush:
		c.kill()
		c.world.Disk.LosePower()
	default:
		c.kill()
		c.world.Disk.Kill()
	}
	c.take()
	c.start()
}

// heal ends all faults, and demands that everything comes to rest in service.
func (c *chaos) heal() {
	c.failOp = ""
	for range 20 {
		c.deliver()
		c.sent()
		c.hear()
		c.tick(30_001)
	}
	c.deliver()
	c.hear()
	require.Equal(c.rt, partition.Online, c.replica().State(), "%v", c.replica().Err())
	c.send() // whether it was appended before or not, it is acknowledged now
	c.deliver()
	before := len(c.acked)
	c.hear()
	require.Equal(c.rt, before+1, len(c.acked), "an online partition acknowledges")
}

func (c *chaos) replica() *partition.Replica {
	return c.broker.Replica(kafka.TopicPartition{Topic: "orders"})
}

func (c *chaos) check() {
	seen := map[string]int64{}
	for offset := int64(0); offset < int64(c.replica().HighWatermark()); {
		m := c.fetchRequest("orders", offset, 0)
		c.ask(env.ConnID(3), m)
		c.deliver()
		f := readFetched(&c.one().(*kmsg.FetchResponse).Topics[0].Partitions[0])
		c.sent()
		require.Equal(c.rt, kafka.None, f.code)
		require.Equal(c.rt, offset, f.base)
		require.NotEmpty(c.rt, f.values)
		for _, v := range f.values {
			_, twice := seen[v]
			require.False(c.rt, twice, "%s is there twice", v)
			seen[v] = offset
			offset++
		}
	}
	for offset, v := range c.acked {
		at, ok := seen[v]
		require.True(c.rt, ok, "%s was acknowledged and is lost", v)
		require.Equal(c.rt, offset, at, v)
	}
}
