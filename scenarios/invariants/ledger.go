package invariants

import (
	"bytes"
	"slices"

	"stet/core/metadata"
	"stet/core/quorum"
)

// founding is the position that every quorum starts from: the empty state.
var founding = quorum.Position{Index: 1, Term: 1}

// Ledger is what was committed, in its order, and the image after each entry: the checker's own
// replay of the log.
type Ledger struct {
	step    func() int64
	entries []Committed // the first is behind founding
	members []membership
	durable uint64 // up to which index Q4 has looked for a quorum
}

// Committed is an entry of the ledger.
type Committed struct {
	quorum.Entry
	Image *metadata.Image // after it
	Step  int64           // when it was first seen to be applied
	Need  int16           // the feature level that it takes to read the log up to here
}

// membership is the membership up to an index.
type membership struct {
	until uint64
	conf  quorum.ConfState
}

// note takes in the membership of whoever was first to apply an entry.
func (l *Ledger) note(index uint64, conf quorum.ConfState) {
	for i := range l.members {
		if slices.Equal(l.members[i].conf.Voters, conf.Voters) &&
			slices.Equal(l.members[i].conf.VotersOutgoing, conf.VotersOutgoing) {
			l.members[i].until = index
			return
		}
	}
	l.members = append(l.members, membership{index, conf})
}

func newLedger(step func() int64) *Ledger { return &Ledger{step: step} }

// Entries lists everything that was committed. The slice is read only.
func (l *Ledger) Entries() []Committed { return l.entries }

// Last returns the position of the last entry.
func (l *Ledger) Last() quorum.Position {
	if len(l.entries) == 0 {
		return founding
	}
	e := &l.entries[len(l.entries)-1]
	return quorum.Position{Index: e.Index, Term: e.Term}
}

// at returns the entry of an index, nil for founding and what the ledger does not have.
func (l *Ledger) at(index uint64) *Committed {
	i := int64(index) - int64(founding.Index) - 1
	if i < 0 || i >= int64(len(l.entries)) {
		return nil
	}
	return &l.entries[i]
}

// Image returns the image as of an index, nil if the ledger does not have it.
func (l *Ledger) Image(index uint64) *metadata.Image {
	switch e := l.at(index); {
	case e != nil:
		return e.Image
	case index <= founding.Index:
		return metadata.Empty()
	}
	return nil
}

// checkApplied is Q2 and Q6: every voter applies the same entries, each once and in order; and with
// it R12 for the image of a controller, which is what the entries make of the empty one.
//
// A voter that has installed a snapshot goes on from there; that the snapshot is what the entries
// make is Q7.
func (c *Cluster) checkApplied(v *Voter, before *seen) {
	from, to := before.applied, v.Status.Applied
	if to == from && v.Image == before.image {
		return
	}
	c.findings.Checked("Q6")
	if to.Index < from.Index {
		c.findings.Fails("Q6", "%s: applied entry %d after entry %d", v.Place, to.Index, from.Index)
		return
	}
	if start := v.Log.FirstIndex() - 1; from.Index < start {
		// A life begins, or a snapshot came. One whose log file is not durable yet is not applied, and what
		// was applied before it in the same turn is not there any more: the image tells (R12).
		from.Index = min(start, to.Index)
	}
	next := from.Index + 1
	if to.Index >= next {
		for _, e := range v.Log.Entries(next, 1<<40) {
			if e.Index != next {
				c.findings.Fails("Q6", "%s: entry %d is applied where %d should be", v.Place, e.Index, next)
				return
			}
			if !c.checkEntry(v, &e, before) {
				return
			}
			next++
		}
	}
	if next != to.Index+1 {
		c.findings.Fails("Q6", "%s: applied to %d, and entries go to %d", v.Place, to.Index, next-1)
		return
	}
	if to.Index > c.Ledger.Last().Index {
		c.findings.Fails("Q2", "%s: a snapshot of entry %d, and nobody has applied more than %d", v.Place,
			to.Index, c.Ledger.Last().Index)
		return
	}
	c.checkImage(v)
	c.checkLevels(v.Place, v.Levels, to.Index)
}

// checkEntry compares an entry with the ledger, or adds it. It says whether all is well.
func (c *Cluster) checkEntry(v *Voter, e *quorum.Entry, before *seen) bool {
	l := c.Ledger
	if known := l.at(e.Index); known != nil {
		c.findings.Checked("Q2")
		if known.Term != e.Term || known.Kind != e.Kind || !bytes.Equal(known.Data, e.Data) {
			c.findings.Fails("Q2", "%s: entry %d of term %d is not what was committed in term %d", v.Place,
				e.Index, e.Term, known.Term)
			return false
		}
		return true
	}
	last := l.Last()
	if e.Index != last.Index+1 || e.Term < last.Term {
		c.findings.Fails("Q2", "%s: entry %d of term %d is committed behind %d of term %d", v.Place, e.Index,
			e.Term, last.Index, last.Term)
		return false
	}
	data := e.Data
	if e.Kind != quorum.EntryNormal {
		data = nil
	}
	image, err := l.Image(last.Index).ApplyEntry(metadata.Index(e.Index), data)
	if err != nil {
		c.findings.Fails("R12", "%s: committed entry %d does not apply: %v", v.Place, e.Index, err)
		return false
	}
	kept := quorum.Entry{Index: e.Index, Term: e.Term, Kind: e.Kind, Data: bytes.Clone(e.Data)}
	changed := l.Image(last.Index)
	need := int16(0)
	if before := l.at(last.Index); before != nil {
		need = before.Need
	}
	l.entries = append(l.entries, Committed{kept, image, l.step(), needOf(need, &kept, image)})
	c.checkForce(v.Place, l.at(e.Index))
	c.checkDurable(v, quorum.Position{Index: e.Index, Term: e.Term}, before)
	c.checkAssignment(changed, image)
	if c.Committed != nil {
		c.Committed(changed, image)
	}
	return true
}

// checkImage compares the image of a voter with that of the ledger.
func (c *Cluster) checkImage(v *Voter) {
	c.findings.Checked("R12")
	applied := v.Status.Applied.Index
	if uint64(v.Image.Index()) != applied && applied > founding.Index {
		c.findings.Fails("Q6", "%s: the image is of entry %d, and %d is applied", v.Place, v.Image.Index(),
			applied)
		return
	}
	want := c.Ledger.Image(applied)
	if want != nil && !sameImage(want, v.Image) {
		c.findings.Fails("R12", "%s: the image of entry %d is not what the log makes of it", v.Place, applied)
	}
}

// sameImage compares images by what a snapshot says of them.
func sameImage(a, b *metadata.Image) bool {
	return a == b || bytes.Equal(a.AppendSnapshot(nil), b.AppendSnapshot(nil))
}

func (e *Committed) position() quorum.Position { return quorum.Position{Index: e.Index, Term: e.Term} }
