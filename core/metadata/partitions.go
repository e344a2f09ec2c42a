package metadata

import "slices"

// chunkSize is the number of partitions in one chunk. A change copies a chunk and the list of
// chunks, so a topic with n partitions pays for chunkSize + n/chunkSize pointers.
const chunkSize = 64

// partitions is a persistent list of the partitions of a topic. The zero value is empty.
type partitions struct {
	chunks [][]*Partition // all but the last are full; none is written once it is shared
	count  int
}

func (p partitions) get(i int) *Partition {
	if i < 0 || i >= p.count {
		return nil
	}
	return p.chunks[i/chunkSize][i%chunkSize]
}

// set returns the list with the partition at i, which is at most count: that one appends.
func (p partitions) set(i int, v *Partition) partitions {
	chunks := slices.Clone(p.chunks)
	if i/chunkSize == len(chunks) {
		chunks = append(chunks, nil)
	}
	chunk := slices.Clone(chunks[i/chunkSize])
	if i%chunkSize == len(chunk) {
		chunk = append(chunk, v)
	} else {
		chunk[i%chunkSize] = v
	}
	chunks[i/chunkSize] = chunk
	return partitions{chunks, max(p.count, i+1)}
}

// append adds a partition in place. Only a list that is not shared yet may be appended to.
func (p *partitions) append(v *Partition) {
	if p.count%chunkSize == 0 {
		p.chunks = append(p.chunks, nil)
	}
	last := &p.chunks[len(p.chunks)-1]
	*last = append(*last, v)
	p.count++
}

// replaced returns the list with every partition p replaced by change(p), which is p itself where
// nothing changes.
func (p partitions) replaced(change func(*Partition) *Partition) partitions {
	out := p
	for c, chunk := range p.chunks {
		var fresh []*Partition
		for i, before := range chunk {
			after := change(before)
			if after != before && fresh == nil {
				fresh = slices.Clone(chunk)
			}
			if fresh != nil {
				fresh[i] = after
			}
		}
		if fresh == nil {
			continue
		}
		if out.same(p) {
			out.chunks = slices.Clone(p.chunks)
		}
		out.chunks[c] = fresh
	}
	return out
}

// same says whether both are one list, not only equal ones.
func (p partitions) same(o partitions) bool {
	return p.count == o.count && (p.count == 0 || &p.chunks[0] == &o.chunks[0])
}

// diff calls changed for every index whose partition is not the same pointer in both lists.
func (p partitions) diff(after partitions, changed func(i int, before, after *Partition)) {
	for i := 0; i < max(p.count, after.count); {
		if i%chunkSize == 0 && sameChunk(p, after, i/chunkSize) {
			i += chunkSize
			continue
		}
		if a, b := p.get(i), after.get(i); a != b {
			changed(i, a, b)
		}
		i++
	}
}

func sameChunk(p, q partitions, c int) bool {
	return c < len(p.chunks) && c < len(q.chunks) &&
		len(p.chunks[c]) == len(q.chunks[c]) && &p.chunks[c][0] == &q.chunks[c][0]
}
