package invariants

import (
	"fmt"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
)

// Chain is a log as prefix hashes: hashes[i] stands for everything up to offset i, included. So two logs
// agree up to an offset if the hashes before it do, and comparing them costs the same for all lengths.
type Chain struct {
	hashes []uint64
	epochs []commitlog.EpochEntry // where the records of each leader epoch begin

	segment  kafka.Offset // that the end lies in
	position int64        // of the end in it
}

// End is the end of the log, exclusive.
func (c *Chain) End() kafka.Offset { return kafka.Offset(len(c.hashes)) }

// lastEpoch is the leader epoch of the last record.
func (c *Chain) lastEpoch() kafka.LeaderEpoch {
	if len(c.epochs) == 0 {
		return kafka.NoLeaderEpoch
	}
	return c.epochs[len(c.epochs)-1].Epoch
}

// agrees says whether two logs have the same records below an end, which both reach.
func (c *Chain) agrees(o *Chain, end kafka.Offset) bool {
	return end == 0 || end <= c.End() && end <= o.End() && c.hashes[end-1] == o.hashes[end-1]
}

// common returns the end of what two logs have in common from the start on.
func (c *Chain) common(o *Chain) kafka.Offset {
	low, high := kafka.Offset(0), min(c.End(), o.End())
	for low < high {
		if at := (low + high + 1) / 2; c.agrees(o, at) {
			low = at
		} else {
			high = at - 1
		}
	}
	return low
}

// cut takes away everything from an end on.
func (c *Chain) cut(end kafka.Offset) { c.hashes = c.hashes[:min(end, c.End())] }

// add takes the records of o from the own end up to an end.
func (c *Chain) add(o *Chain, end kafka.Offset) {
	c.hashes = append(c.hashes, o.hashes[c.End():end]...)
}

// push takes one batch.
func (c *Chain) push(v record.View) {
	if e := v.LeaderEpoch(); e != c.lastEpoch() {
		c.epochs = append(c.epochs, commitlog.EpochEntry{Epoch: e, Start: v.BaseOffset()})
	}
	hash := uint64(14695981039346656037)
	if n := len(c.hashes); n > 0 {
		hash = c.hashes[n-1]
	}
	for c.End() < v.NextOffset() {
		hash = mix(mix(mix(hash, uint64(v.CRC())), uint64(v.LeaderEpoch())), uint64(c.End()))
		c.hashes = append(c.hashes, hash)
	}
}

func mix(hash, x uint64) uint64 {
	hash = (hash ^ x) * 0x9e3779b97f4a7c15
	return hash ^ hash>>29
}

// Follow reads on in the files of a log up to an end, as processes see them. With anew it begins at the
// start: what was read may be gone. It says what is wrong with the files, "" if nothing is.
func (c *Chain) Follow(d *sim.Disk, dir env.Path, end kafka.Offset, anew bool) string {
	if anew || end < c.End() {
		*c = Chain{}
	}
	for c.End() < end {
		b := d.BytesFrom(segmentPath(dir, c.segment), c.position)
		if len(b) == 0 {
			if c.segment == c.End() {
				return fmt.Sprintf("no records at %d", c.End())
			}
			c.segment, c.position = c.End(), 0
			continue
		}
		for len(b) > 0 && c.End() < end {
			v, rest, problem := record.First(b)
			if problem == record.NoProblem {
				problem = record.Check(v)
			}
			if problem != record.NoProblem || v.BaseOffset() != c.End() || v.LeaderEpoch() < c.lastEpoch() {
				return fmt.Sprintf("segment %d position %d: no batch of offset %d: %s", c.segment, c.position, c.End(), problem)
			}
			c.push(v)
			c.position += int64(len(b) - len(rest))
			b = rest
		}
	}
	return ""
}

func segmentPath(dir env.Path, base kafka.Offset) env.Path {
	return env.Path{Dir: dir.Dir, Name: fmt.Sprintf("%s/%020d.log", dir.Name, base)}
}
