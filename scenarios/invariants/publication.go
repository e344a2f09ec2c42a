package invariants

import (
	"stet/core/metadata"
	"stet/sim"
)

// checkPublished is the half of Q10 that concerns controllers: one that says it leads, and acts upon
// its image, has applied everything that was committed in earlier terms.
func (c *Cluster) checkPublished(v *Voter, before *seen) {
	if !v.Ready || before.ready && before.term == v.Status.Hard.Term {
		return
	}
	c.findings.Checked("Q10")
	if need, ok := c.Ledger.before(v.Status.Hard.Term); ok && v.Status.Applied.Index < need.Index {
		c.findings.Fails("Q10", "%s: acts as controller of term %d at entry %d, %d was committed before", v.Place,
			v.Status.Hard.Term, v.Status.Applied.Index, need.Index)
	}
}

// Broker is the other half, and R12 for the image of a broker: what a broker knows of the metadata,
// after a turn, is the image of an entry that was committed. In one life of its process it never
// goes back.
func (c *Cluster) Broker(p sim.Place, levels metadata.Levels, image *metadata.Image) {
	before := c.brokers[p]
	if before == image || image.Index() == 0 {
		return
	}
	c.brokers[p] = image
	c.findings.Checked("Q10")
	index := uint64(image.Index())
	c.checkLevels(p, levels, index)
	want := c.Ledger.Image(index)
	switch {
	case want == nil:
		c.findings.Fails("Q10", "%s: a broker knows of entry %d, and only %d is committed", p, index,
			c.Ledger.Last().Index)
	case !sameImage(want, image):
		c.findings.Fails("Q10", "%s: what a broker knows as of entry %d is not what the log makes of it", p, index)
	}
}

// BrokerEnded is told that the process of a broker has ended: the next may know less.
func (c *Cluster) BrokerEnded(p sim.Place) { delete(c.brokers, p) }
