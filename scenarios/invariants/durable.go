package invariants

import (
	"maps"
	"path"
	"slices"

	"stet/core/env"
	"stet/core/quorum"
	"stet/sim"
)

// checkDurable is Q4: an entry that somebody applies is durable on the medium of whoever applies it,
// and when the first does, on that of a quorum. Later the membership may be another.
//
// The quorum is of the membership in force when it was decided to be committed. Who is first to
// apply it may have learnt of a change of the membership only in the same turn, so that of the turn
// before counts as well. And a leader that has not applied a change yet goes on committing by the
// membership before it, for as many entries as are under way.
func (c *Cluster) checkDurable(v *Voter, at quorum.Position, before *seen) {
	c.findings.Checked("Q4")
	l := c.Ledger
	holds := map[uint64]bool{}
	for _, p := range slices.Sorted(maps.Keys(c.disks)) {
		if state := c.medium(p); state.voter != 0 && state.has(at) {
			holds[state.voter] = true
		}
	}
	// What a voter had when its directory was lost was durable when it was committed.
	for _, m := range c.lost {
		holds[m.voter] = holds[m.voter] || m.has(at)
	}
	if !holds[v.Status.Voter] {
		c.findings.Fails("Q4", "%s: applies entry %d of term %d, which its medium does not have", v.Place,
			at.Index, at.Term)
	}
	if at.Index <= l.durable {
		return
	}
	l.durable = at.Index
	confs := []quorum.ConfState{v.Status.Members, before.members}
	for _, m := range l.members {
		if at.Index <= m.until+overlap {
			confs = append(confs, m.conf)
		}
	}
	l.note(at.Index, v.Status.Members)
	if !slices.ContainsFunc(confs, func(conf quorum.ConfState) bool { return isQuorum(&conf, holds) }) {
		c.findings.Fails("Q4", "%s: applies entry %d of term %d, which only %d voters have on their media, of %v",
			v.Place, at.Index, at.Term, len(holds), v.Status.Members)
	}
}

// overlap is for how many entries behind a change the membership before it counts.
const overlap = 16

// isQuorum says whether a majority of the voters is in a set, of both sides of a joint membership.
func isQuorum(c *quorum.ConfState, in map[uint64]bool) bool {
	return len(c.Voters) > 0 && majority(c.Voters, in) &&
		(len(c.VotersOutgoing) == 0 || majority(c.VotersOutgoing, in))
}

func majority(voters []uint64, in map[uint64]bool) bool {
	n := 0
	for _, v := range voters {
		if in[v] {
			n++
		}
	}
	return n > len(voters)/2
}

// medium is what a recovery would find of the quorum's files after a power loss at this moment.
type medium struct {
	name    string // of the file that was read
	stamp   uint64 // of its content
	voter   uint64
	hard    quorum.HardState
	start   quorum.Position // of the newest snapshot that counts
	entries []quorum.Entry
}

// has says whether an entry is in the log, or covered by a snapshot.
func (m *medium) has(at quorum.Position) bool {
	if at.Index <= m.start.Index {
		return true
	}
	i := slices.IndexFunc(m.entries, func(e quorum.Entry) bool { return e.Index == at.Index })
	return i >= 0 && m.entries[i].Term == at.Term
}

// medium reads what the medium of a machine has. The newest log whose base is whole is in force. What
// was read is kept for as long as the medium does not change.
func (c *Cluster) medium(p sim.Place) *medium {
	d := c.disks[p]
	if d == nil {
		return &medium{}
	}
	for _, name := range slices.Backward(d.DurableEntries(raftDirectory())) {
		if quorum.IsSnapshotName(name) {
			continue
		}
		file := env.Path{Name: path.Join(quorum.Directory, name)}
		stamp := d.DurableStamp(file)
		m := c.media[p]
		if m == nil || m.name != name || m.stamp != stamp {
			m = &medium{name: name, stamp: stamp}
			b, _ := d.DurableBytes(file)
			if l, err := quorum.InspectLog(name, b); err == nil && l.InForce {
				m.voter, m.hard, m.start, m.entries = l.Voter, l.Hard, l.Start, l.Entries
			}
			c.media[p] = m
		}
		if m.voter != 0 {
			return m
		}
	}
	return &medium{}
}
