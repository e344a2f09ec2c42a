package legal

import (
	"slices"

	"stet/core/kafka"
	lin "stet/linearizability"
)

// partition is the log of the model.
type partition struct {
	name  lin.Partition
	index int

	batches       []batch // by base offset
	logStart      kafka.Offset
	highWatermark kafka.Offset

	losses int // how often the log was cut
}

// batch is one append.
type batch struct {
	base    kafka.Offset
	count   int // offsets that it takes
	control bool
	records []lin.Observed
}

func (b batch) end() kafka.Offset { return b.base + kafka.Offset(b.count) }

func newPartition(index int) *partition {
	name := lin.Partition{Topic: "orders", Index: kafka.PartitionID(index)}
	return &partition{name: name, index: index}
}

// end is the log end offset.
func (p *partition) end() kafka.Offset {
	if n := len(p.batches); n > 0 {
		return p.batches[n-1].end()
	}
	return p.logStart
}

// append puts a batch at the end and gives it its offsets.
func (p *partition) append(b batch) kafka.Offset {
	b.base = p.end()
	b.records = slices.Clone(b.records)
	for i := range b.records {
		b.records[i].Offset = b.base + kafka.Offset(i)
	}
	p.batches = append(p.batches, b)
	return b.base
}

// commit moves the high watermark to the end.
func (p *partition) commit() { p.highWatermark = p.end() }

// cut loses everything from an offset on, which is the base of a batch.
func (p *partition) cut(from kafka.Offset) {
	p.losses++
	p.batches = slices.DeleteFunc(p.batches, func(b batch) bool { return b.base >= from })
	p.highWatermark = min(p.highWatermark, from)
	if len(p.batches) == 0 {
		p.logStart = from
	}
}

// from lists the batches that hold offsets in [start, end).
func (p *partition) from(start, end kafka.Offset) []batch {
	var out []batch
	for _, b := range p.batches {
		if b.end() > start && b.end() <= end {
			out = append(out, b)
		}
	}
	return out
}

func (p *partition) recordsFrom(start kafka.Offset) []lin.Observed {
	var out []lin.Observed
	for _, b := range p.from(start, p.end()) {
		for _, r := range b.records {
			if r.Offset >= start {
				out = append(out, r)
			}
		}
	}
	return out
}
