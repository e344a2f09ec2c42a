package controller

import (
	"fmt"

	"stet/core/metadata"
)

// reportUnclean tells of elections, by an entry of this controller, of leaders that may lack committed
// records: what is promised of acknowledged records ends for them.
func (c *Controller) reportUnclean(delta *metadata.Delta, index metadata.Index) {
	count, first := 0, ""
	for i := range delta.TopicsChanged {
		t := &delta.TopicsChanged[i]
		for j := range t.Partitions {
			if !t.Partitions[j].Unclean() {
				continue
			}
			if count == 0 {
				first = fmt.Sprintf("%s-%d", t.After.Name, t.Partitions[j].ID)
			}
			count++
		}
	}
	if count > 0 {
		c.Metrics.UncleanElections += uint64(count)
		c.trace(TraceUnclean, int64(count), int64(index), 0, fmt.Sprintf("unclean election: "+
			"%d partitions, %s the first, have a leader that may lack acknowledged records", count, first))
	}
}
