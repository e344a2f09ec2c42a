package invariants

import (
	"stet/core/env"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/sim"
)

// Findings is where violations and antecedents go.
type Findings interface {
	// Fails records a violation of a check.
	Fails(check, format string, args ...any)
	// Checked counts that there was something to check.
	Checked(check string)
}

// Log is what is seen of a voter's log; *quorum.Quorum has it.
type Log interface {
	// Entries returns applied entries from an index on, which is at least FirstIndex.
	Entries(from uint64, maxBytes int64) []quorum.Entry
	FirstIndex() uint64
	// TermAt returns the term of any entry that is in the log, and of the position it starts from.
	TermAt(index uint64) (uint64, bool)
}

// Voter is what is seen of a controller after a turn.
type Voter struct {
	Place  sim.Place
	Life   int // of the voter, from 1: a process has another after a failure of its log
	Status quorum.Status
	Log    Log
	Image  *metadata.Image // as of Status.Applied
	Ready  bool            // it leads, and answers
	Levels metadata.Levels // that its software supports
	Disk   *sim.Disk
}

// Cluster is all checks of one run, with what they remember.
type Cluster struct {
	Ledger *Ledger
	// Committed, if set, is told of each entry when it is first seen to be committed.
	Committed func(before, after *metadata.Image)

	findings  Findings
	disks     map[sim.Place]*sim.Disk
	seen      map[sim.Place]*seen
	elections elections
	votes     votes
	media     map[sim.Place]*medium
	lost      []*medium // of directories that were lost, as they were
	recovered map[sim.Place]*synced
	brokers   map[sim.Place]*metadata.Image
}

// seen is a voter as it was after the turn before.
type seen struct {
	life           int
	applied, start quorum.Position
	members        quorum.ConfState
	role           quorum.Role
	term           uint64
	ready          bool
	image          *metadata.Image
}

// New returns the checks of a run that has not begun. step tells the present moment.
func New(f Findings, step func() int64) *Cluster {
	return &Cluster{
		Ledger: newLedger(step), findings: f, disks: map[sim.Place]*sim.Disk{},
		seen: map[sim.Place]*seen{}, elections: elections{}, votes: votes{}, media: map[sim.Place]*medium{},
		recovered: map[sim.Place]*synced{}, brokers: map[sim.Place]*metadata.Image{},
	}
}

// Watch adds the disk of a machine.
func (c *Cluster) Watch(p sim.Place, d *sim.Disk) { c.disks[p] = d }

// Controller sees a controller after a turn.
func (c *Cluster) Controller(v *Voter) {
	before := c.seen[v.Place]
	if before == nil || before.life != v.Life {
		before = &seen{life: v.Life}
		c.checkRecovered(v)
	}
	c.noteSynced(v)
	c.checkElection(v, before)
	c.checkCompleteness(v, before)
	c.checkApplied(v, before)
	c.checkSnapshot(v, before)
	c.checkPublished(v, before)
	c.seen[v.Place] = &seen{
		v.Life, v.Status.Applied, v.Status.Start, v.Status.Members, v.Status.Role, v.Status.Hard.Term,
		v.Ready, v.Image,
	}
}

// Wiped is told that a machine is about to lose its directory: what it knew is not expected of it any
// more.
func (c *Cluster) Wiped(p sim.Place) {
	if m := c.medium(p); m.voter != 0 {
		c.lost = append(c.lost, m)
	}
	delete(c.recovered, p)
	delete(c.seen, p)
	delete(c.brokers, p)
}

// raftDirectory is where the files of the quorum lie.
func raftDirectory() env.Path { return env.Path{Name: quorum.Directory} }
