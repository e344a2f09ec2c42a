package invariants

import (
	"bytes"
	"path"
	"slices"

	"stet/core/env"
	"stet/core/metadata"
	"stet/core/quorum"
)

// checkSnapshot is Q7: the snapshot that a log follows is what the entries up to it make of the empty
// image, it is not of entries that nobody has applied, and no leader has loaded one.
func (c *Cluster) checkSnapshot(v *Voter, before *seen) {
	s := &v.Status
	if s.Start == before.start || s.Start.Index <= founding.Index {
		return
	}
	c.findings.Checked("Q7")
	if term, ok := c.Ledger.termOf(s.Start.Index); !ok || term != s.Start.Term {
		c.findings.Fails("Q7", "%s: a snapshot of entry %d in term %d; it was committed in term %d", v.Place,
			s.Start.Index, s.Start.Term, term)
		return
	}
	if before.applied.Index > 0 && s.Start.Index > before.applied.Index && before.role == quorum.Leader &&
		s.Role == quorum.Leader && before.term == s.Hard.Term {
		c.findings.Fails("Q7", "%s: a leader has loaded a snapshot", v.Place)
	}
	c.checkSnapshotFile(v)
}

// checkSnapshotFile compares the newest snapshot file with the ledger.
func (c *Cluster) checkSnapshotFile(v *Voter) {
	for _, e := range slices.Backward(v.Disk.Entries(raftDirectory())) {
		if !quorum.IsSnapshotName(e.Name) {
			continue
		}
		b, _ := v.Disk.Bytes(env.Path{Name: path.Join(quorum.Directory, e.Name)})
		at, _, body, err := quorum.InspectSnapshot(e.Name, b)
		if err != nil || at.Index != v.Status.Start.Index {
			continue // one that is being written, or is not needed any more
		}
		image, err := metadata.DecodeSnapshot(body)
		if err != nil {
			c.findings.Fails("Q7", "%s: the snapshot of entry %d does not load: %v", v.Place, at.Index, err)
			return
		}
		want := c.Ledger.Image(at.Index)
		if want == nil || !bytes.Equal(want.AppendSnapshot(nil), image.AppendSnapshot(nil)) {
			c.findings.Fails("Q7", "%s: the snapshot of entry %d is not what the log makes of it", v.Place, at.Index)
		}
		return
	}
	c.findings.Fails("Q7", "%s: the log follows entry %d, and there is no snapshot of it", v.Place,
		v.Status.Start.Index)
}

// termOf returns the term in which an entry was committed.
func (l *Ledger) termOf(index uint64) (uint64, bool) {
	if index == founding.Index {
		return founding.Term, true
	}
	if e := l.at(index); e != nil {
		return e.Term, true
	}
	return 0, false
}
