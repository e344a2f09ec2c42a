package partition_test

import (
	"fmt"
	"slices"

	"stet/core/commitlog"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/core/record"
)

// finding is what a check panics with.
type finding struct{ check, what string }

func (f finding) Error() string { return f.check + ": " + f.what }

func fail(check, format string, args ...any) {
	panic(finding{check, fmt.Sprintf(format, args...)})
}

// entry is what a log holds at an offset.
type entry struct {
	epoch kafka.LeaderEpoch
	value int
}

// content is what is written of a log, by offset.
type content struct {
	log     *commitlog.Log
	entries []entry
}

func (n *node) online() bool { return n.replica != nil && n.replica.State() == partition.Online }

func (n *node) refresh() {
	log := n.replica.Log()
	if n.content.log == log && len(n.content.entries) == int(log.Written()) {
		return
	}
	var entries []entry
	for _, name := range n.world.Disk.Names(logName) {
		if len(name) != 24 || name[20:] != ".log" {
			continue
		}
		data := n.world.Disk.Content(logName + "/" + name)
		for len(data) > 0 && len(entries) < int(log.Written()) {
			v := record.View(data)
			size := int(v.SizeBytes())
			// The records are tiny: one byte of length, and the value is the last but one field.
			value := int(data[size-3])<<8 | int(data[size-2])
			for range v.LastOffsetDelta() + 1 {
				entries = append(entries, entry{v.LeaderEpoch(), value})
			}
			data = data[size:]
		}
	}
	n.content = content{log, entries}
	if len(entries) != int(log.Written()) {
		fail("R9", "node %d: %d entries, %d written", n.id, len(entries), log.Written())
	}
}

// check judges what a call to a node's replica has led to.
func (m *model) check(n *node) {
	if !n.online() {
		return
	}
	n.refresh()
	r, log := n.replica, n.replica.Log()
	if r.LogStartOffset() > r.HighWatermark() || r.HighWatermark() > log.Written() {
		fail("R9", "node %d: log start %d, high watermark %d, end %d",
			n.id, r.LogStartOffset(), r.HighWatermark(), log.Written())
	}
	m.checkEpochs(n)
	m.checkCommitted(n)
	for _, other := range m.nodes {
		if other != n && other.online() {
			m.checkMatching(n, other)
		}
	}
	m.checkCandidates()
	m.checkQuorum(n)
	if n.damaged && slices.Contains(m.controller.image.isr, n.id) {
		n.damaged = false // checkCandidates has seen that it has everything
	}
}

// checkEpochs: one leader an epoch (R8), and the epoch cache says what the records say (R11).
func (m *model) checkEpochs(n *node) {
	for offset, e := range n.content.entries {
		if at := n.content.log.EpochAt(kafka.Offset(offset)); at != e.epoch {
			fail("R11", "node %d: offset %d is of epoch %d, the cache says %d", n.id, offset, e.epoch, at)
		}
	}
	epoch := n.replica.LeaderEpoch()
	if epoch == kafka.NoLeaderEpoch {
		return
	}
	if latest := n.content.log.LatestEpoch(); latest != epoch {
		fail("R11", "node %d leads in epoch %d, the cache ends with %d", n.id, epoch, latest)
	}
	if other, ok := m.leaders[epoch]; ok && other != n.id {
		fail("R8", "nodes %d and %d lead in epoch %d", n.id, other, epoch)
	}
	m.leaders[epoch] = n.id
}

// checkCommitted: what a leader's high watermark has passed is committed for good (R2, R5), and no
// follower believes in more (H9).
func (m *model) checkCommitted(n *node) {
	high := int(n.replica.HighWatermark())
	if n.replica.LeaderEpoch() != kafka.NoLeaderEpoch {
		for len(m.committed) < high {
			m.committed = append(m.committed, n.content.entries[len(m.committed)])
		}
	}
	if high > len(m.committed) {
		fail("R5", "node %d takes %d for committed, %d is", n.id, high, len(m.committed))
	}
	m.holds(n, high, "R2")
}

// holds: a node has the first so many committed entries.
func (m *model) holds(n *node, count int, check string) {
	if have := len(n.content.entries); have < count {
		fail(check, "node %d ends at %d, %d is committed", n.id, have, count)
	}
	for offset, e := range m.committed[:count] {
		if n.content.entries[offset] != e {
			fail(check, "node %d has %v at offset %d, committed is %v", n.id, n.content.entries[offset], offset, e)
		}
	}
}

// checkMatching: two logs that have the same epoch at an offset agree up to there (R1).
func (m *model) checkMatching(a, b *node) {
	x, y := a.content.entries, b.content.entries
	for i := min(len(x), len(y)) - 1; i >= 0; i-- {
		if x[i].epoch != y[i].epoch {
			continue
		}
		if !slices.Equal(x[:i+1], y[:i+1]) {
			fail("R1", "nodes %d and %d have epoch %d at offset %d, and differ below:\n%v\n%v",
				a.id, b.id, x[i].epoch, i, x, y)
		}
		return
	}
}

// checkCandidates: whoever may be elected holds all that is committed (R3).
func (m *model) checkCandidates() {
	image := m.controller.image
	for _, id := range append(slices.Clone(image.isr), image.elr...) {
		if n := m.nodes[id-1]; n.online() {
			n.refresh()
			m.holds(n, len(m.committed), "R3")
		}
	}
}

// checkQuorum: the leader waits for everyone who may be elected (R4), unless it can commit nothing.
func (m *model) checkQuorum(n *node) {
	image := m.controller.image
	in, ok := n.replica.InSync()
	if !ok || n.replica.LeaderEpoch() != image.epoch || len(in.ISR) < m.minISR {
		return
	}
	for _, id := range append(slices.Clone(image.isr), image.elr...) {
		if !slices.Contains(in.Maximal, id) {
			fail("R4", "node %d leads and waits for %v; ISR %v and ELR %v may be elected",
				n.id, in.Maximal, image.isr, image.elr)
		}
	}
	if !in.Pending && in.PartitionEpoch == image.partitionEpoch && !slices.Equal(in.ISR, image.isr) {
		fail("R4", "node %d takes %v for the ISR, which is %v", n.id, in.ISR, image.isr)
	}
}

// acknowledged judges an answer to a producer (R10, H1).
func (m *model) acknowledged(n *node, o partition.Outcome) {
	if o.Code != kafka.None || o.Ticket.Generation != uint32(n.id) {
		return
	}
	value := int(o.Ticket.Index)
	n.refresh()
	holders := 0
	for _, other := range m.nodes {
		switch {
		case other.damaged, other.replica == nil, other.content.log == nil:
			holders++ // it may have had it, or still have it
		case len(other.content.entries) <= int(o.BaseOffset):
		case other.content.entries[o.BaseOffset].value == value:
			holders++
		}
	}
	if int(o.BaseOffset) >= len(n.content.entries) || n.content.entries[o.BaseOffset].value != value {
		fail("R10", "node %d acknowledges %d at offset %d, where it is not", n.id, value, o.BaseOffset)
	}
	if m.produced[value] != partition.AcksAll {
		return
	}
	m.acks++
	if n.replica.HighWatermark() <= o.BaseOffset {
		fail("R10", "node %d acknowledges %d at offset %d above its high watermark %d",
			n.id, value, o.BaseOffset, n.replica.HighWatermark())
	}
	if n.image.flush {
		m.checkDurable(n, o.BaseOffset)
	}
	if holders < m.minISR {
		fail("R10", "node %d acknowledges %d, which %d replicas hold", n.id, value, holders)
	}
}

// checkDurable: in flush mode acknowledged means synced on the minimum of replicas (P3). Of one that is
// down, or was damaged, it is not known.
func (m *model) checkDurable(n *node, offset kafka.Offset) {
	m.durable++
	synced := 0
	for _, other := range m.nodes {
		if other.damaged || !other.online() || other.replica.Log().Synced() > offset {
			synced++
		}
	}
	if synced < m.minISR {
		fail("P3", "node %d acknowledges offset %d in flush mode, synced on %d replicas", n.id, offset, synced)
	}
}
