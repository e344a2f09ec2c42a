package broker

import (
	"time"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/core/wire"
)

// firstCopyPause is the pause of a replica whose leader has refused it, or does not know yet that it
// leads. It doubles up to replica.fetch.backoff.ms.
const firstCopyPause = 50 * time.Millisecond

// copying is a replica of this broker that a fetcher copies from its leader.
type copying struct {
	replica *hosted
	from    *replicaFetcher
	place   int  // in from.all
	queued  bool // in from.queue
	writing bool // counted in from.writing
	paused  bool // in from.paused, until then
	until   env.Mono
	tries   uint // that have failed, one after the other
}

func (c *copying) key() hostKey { return hostKey{c.replica.TopicID, c.replica.Partition} }

// fetched passes on what the leader answered to a position.
func (c *copying) fetched(b *Broker, at partition.Position, m *wire.ReplicaFetchResponse,
	p *wire.ReplicaFetched,
) {
	b.batches = b.batches[:0]
	for i := range p.Batches {
		ref := env.BufRef{Owner: m.Frame}
		if i < len(p.Data) {
			ref.Data = p.Data[i]
		}
		b.batches = append(b.batches, ref)
	}
	result := c.replica.Fetched(b.now, at, &partition.Fetched{
		Code: p.Error, HighWatermark: p.HighWatermark, LogStart: p.LogStartOffset,
		Diverging: partition.Divergence(p.DivergingEpoch),
		Batches:   p.Batches, Data: b.batches, Corrupt: p.Corrupt,
	}, b.out)
	clear(b.batches)
	b.afterReplica(c.replica)
	if c.replica.copying != c {
		return
	}
	c.from.look(b, c)
	if result != partition.FollowContinue {
		c.pause(b)
		return
	}
	if p.Error == kafka.None {
		c.tries = 0
	}
	if len(p.Batches) > 0 && !c.writing {
		c.writing = true
		c.from.writing++
	}
}

// pause leaves the replica out for a time, or until the metadata say something of it.
func (c *copying) pause(b *Broker) {
	pause := min(firstCopyPause<<min(c.tries, 8), max(b.config.Replica.FetchBackoff, firstCopyPause))
	c.tries++
	c.until = b.now.Mono.Add(pause)
	c.from.written(c)
	if !c.paused {
		c.paused = true
		c.from.paused = append(c.from.paused, c)
	}
}
