package metadata

// matching gives changes authors, each operation at most one change. If there is a way in which every
// change has an author and every acknowledged operation a change, it is one: where several may have
// made a change, whoever is first in line may be needed for another.
type matching struct {
	changes []*Change
	asked   []*Operation
	author  []int // by change, -1 for none
	change  []int // by operation, -1 for none
}

func newMatching(changes []*Change, asked []*Operation) *matching {
	m := &matching{changes: changes, asked: asked}
	for range changes {
		m.author = append(m.author, -1)
	}
	for range asked {
		m.change = append(m.change, -1)
	}
	for c := range changes {
		m.place(c, make([]bool, len(asked)))
	}
	for o := range asked {
		if asked[o].Outcome == OK && m.change[o] < 0 {
			m.settle(o, make([]bool, len(changes)))
		}
	}
	return m
}

// place finds an author for a change; one that has another change gives it up if that finds another
// author in turn.
func (m *matching) place(c int, tried []bool) bool {
	for o := range m.asked {
		if tried[o] || !m.asked[o].mayHaveMade(m.changes[c]) {
			continue
		}
		tried[o] = true
		if m.change[o] < 0 || m.place(m.change[o], tried) {
			m.author[c], m.change[o] = o, c
			return true
		}
	}
	return false
}

// settle finds a change for an acknowledged operation: one that is somebody's who need not have one, or
// who finds another.
func (m *matching) settle(o int, tried []bool) bool {
	for c := range m.changes {
		if tried[c] || !m.asked[o].mayHaveMade(m.changes[c]) {
			continue
		}
		tried[c] = true
		before := m.author[c]
		if before >= 0 && m.asked[before].Outcome == OK && !m.settle(before, tried) {
			continue
		}
		if before >= 0 && m.change[before] == c {
			m.change[before] = -1
		}
		m.author[c], m.change[o] = o, c
		return true
	}
	return false
}
