package invariants

import (
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/sim"
)

// needOf returns the lowest feature level whose software can read what the log has up to an entry:
// that of what was written, and that which is in force.
func needOf(before int16, e *quorum.Entry, after *metadata.Image) int16 {
	need := max(before, after.Features().Level)
	if e.Kind != quorum.EntryNormal {
		return need
	}
	records, _ := metadata.DecodeEntry(e.Data)
	for _, r := range records {
		if t, ok := r.(*metadata.TopicRecord); ok && t.Created != 0 {
			need = max(need, metadata.LevelTopicsDated)
		}
	}
	return need
}

// checkForce is the half of M4 that concerns the log: nothing is written that is of a level above the
// one in force, and that one is supported by every registered broker, fenced
// or not, and by every voter that has said what it supports.
func (c *Cluster) checkForce(p sim.Place, e *Committed) {
	level := e.Image.Features().Level
	if level == 0 {
		return
	}
	c.findings.Checked("M4")
	if e.Need > level {
		c.findings.Fails("M4", "%s: entry %d is of feature level %d, and %d is in force", p, e.Index, e.Need, level)
	}
	for b := range e.Image.Brokers() {
		if !metadata.Supports(b.Features, level) {
			c.findings.Fails("M4", "%s: feature level %d is in force as of entry %d, and broker %d supports %v", p, level,
				e.Index, b.ID, b.Features)
		}
	}
	for v := range e.Image.Voters() {
		if len(v.Features) > 0 && !metadata.Supports(v.Features, level) {
			c.findings.Fails("M4", "%s: feature level %d is in force as of entry %d, and controller %d supports %v", p, level,
				e.Index, v.Node, v.Features)
		}
	}
}

// checkLevels is the other half: no node acts upon what its software can not read, whether it has
// applied the entries itself or loaded a snapshot of them.
func (c *Cluster) checkLevels(p sim.Place, levels metadata.Levels, index uint64) {
	if e := c.Ledger.at(index); e != nil && e.Need > 0 && !levels.Has(e.Need) {
		c.findings.Fails("M4", "%s: has applied entry %d, which takes feature level %d; its software supports %d to %d", p,
			index, e.Need, levels.Min, levels.Max)
	}
}

// Level returns the feature level that is in force as of the last entry; 0 before the first.
func (l *Ledger) Level() int16 { return l.Image(l.Last().Index).Features().Level }
