package controller

import (
	"time"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
)

// balance gives leadership back to first replicas (auto.leader.rebalance.enable). A broker that was away
// leads nothing when it comes back, and nothing else would change that. Its timer runs only on the
// controller that leads, and only if a first replica is in sync and does not lead.
//
// What a check finds is elected some at a time: the next entry is proposed when the last is committed, so
// that the log has room for other requests, and brokers for other leaders, in between.
type balance struct {
	at      env.Mono                   // of the next check; env.Never: there is nothing to do
	found   []metadata.TopicPartitions // by the last check, and not elected yet
	waiting metadata.Index             // for this entry
}

// electionsPerEntry bounds an entry of a balance, as Kafka does.
const electionsPerEntry = 1000

// restart begins a term.
func (b *balance) restart(c *Controller) {
	*b = balance{at: env.Never}
	if len(c.image.Imbalance(0)) > 0 {
		b.arm(c)
	}
}

// stop ends a term.
func (b *balance) stop() { *b = balance{at: env.Never} }

func (b *balance) arm(c *Controller) {
	if b.at == env.Never && c.config.Rebalance.Enabled {
		b.at = c.now.Mono.Add(time.Duration(c.config.Rebalance.CheckSeconds) * time.Second)
	}
}

// notice looks at what an entry has changed.
func (b *balance) notice(c *Controller, delta *metadata.Delta) {
	for i := range delta.TopicsChanged {
		for j := range delta.TopicsChanged[i].Partitions {
			if delta.TopicsChanged[i].Partitions[j].After.Misled() {
				b.arm(c)
				return
			}
		}
	}
}

// step checks if it is time, and elects the next of what was found. It says whether it has proposed.
func (b *balance) step(c *Controller) bool {
	if !c.Ready() || c.image.Index() < b.waiting {
		return false
	}
	if len(b.found) == 0 && c.now.Mono >= b.at {
		b.at = env.Never
		b.found = c.queue.latest.Imbalance(c.config.Rebalance.Percent)
	}
	for len(b.found) > 0 {
		records, _, code := metadata.ElectLeaders(
			c.queue.latest, metadata.PreferredElection, b.take(electionsPerEntry))
		invariant.Always(code == kafka.None, "an election of preferred leaders is refused")
		if len(records) == 0 {
			continue // all of them were elected, or left the ISR, since
		}
		index, ok := c.propose(records)
		if !ok { // too much is under way: the next check finds them again
			b.found = nil
			b.arm(c)
			return false
		}
		b.waiting = metadata.Index(index)
		return true
	}
	return false
}

// take removes at most n partitions from what was found.
func (b *balance) take(n int) (list []metadata.TopicPartitions) {
	for n > 0 && len(b.found) > 0 {
		t := &b.found[0]
		k := min(n, len(t.Partitions))
		list = append(list, metadata.TopicPartitions{Topic: t.Topic, Partitions: t.Partitions[:k]})
		t.Partitions, n = t.Partitions[k:], n-k
		if len(t.Partitions) == 0 {
			b.found = b.found[1:]
		}
	}
	return list
}

// deadline is when the next check is. One that is due waits for what was found before, and for who does
// not lead there is none.
func (b *balance) deadline(c *Controller) env.Mono {
	if !c.Ready() || c.image.Index() < b.waiting {
		return env.Never
	}
	return b.at
}
