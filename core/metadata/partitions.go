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

// replacedAt returns the list with n partitions replaced: at(i) says where the i-th is and what is
// put there. The places exist and ascend.
func (p partitions) replacedAt(n int, at func(i int) (int, *Partition)) partitions {
	out := partitions{slices.Clone(p.chunks), p.count}
	fresh := -1 // the chunk that is not shared
	for i := range n {
		place, v := at(i)
		if c := place / chunkSize; c != fresh {
			out.chunks[c], fresh = slices.Clone(out.chunks[c]), c
		}
		out.chunks[fresh][place%chunkSize] = v
	}
	return out
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
