package client

import (
	"stet/core/kafka"
	"stet/core/record"
)

// maxDecompressed bounds what a client decompresses.
const maxDecompressed = 16 << 20

// batchDecoder reads the records of fetch responses.
type batchDecoder struct{ scratch record.Scratch }

// decode fills in the batches and records of a poll, and returns where the consumer goes on. A
// last partial batch is dropped, as clients do; so is what follows a batch that is corrupt.
func (d *batchDecoder) decode(p *Poll, b []byte) kafka.Offset {
	next := p.Position
	for {
		batch, rest, problem := record.First(b)
		if problem != record.NoProblem {
			if problem == record.ProblemLength {
				p.Batches = append(p.Batches, Batch{Base: next, Last: next, Corrupt: true})
			}
			return next
		}
		b = rest
		p.Batches = append(p.Batches, Batch{
			Base: batch.BaseOffset(), Last: batch.LastOffset(), Count: batch.Count(),
			Control: batch.Attributes().IsControl(),
		})
		if !d.records(p, batch) {
			p.Batches[len(p.Batches)-1].Corrupt = true
			return next
		}
		next = max(next, batch.NextOffset())
	}
}

// records appends the records of a batch. It says false if the batch is not sound.
func (d *batchDecoder) records(p *Poll, batch record.View) bool {
	if record.Check(batch) != record.NoProblem {
		return false
	}
	if batch.Attributes().IsControl() {
		return true
	}
	return d.scratch.Records(batch, maxDecompressed, func(r record.Record) bool {
		if r.Offset >= p.Position {
			p.Records = append(p.Records, Fetched{
				r.Offset, r.Timestamp,
				append([]byte(nil), r.Value...),
			})
		}
		return true
	}) == record.NoProblem
}
