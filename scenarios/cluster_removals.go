package scenarios

import (
	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/sim"
)

// checkRemovals is the part of M2 that a broker's turn shows: what it removes is no replica that the
// committed metadata gives it. A topic's id is never given again, so what a broker's image lacks, and
// the metadata have, is what that image does not have yet.
func (w *clusterWatch) checkRemovals(m *sim.Machine, out *env.Effects) {
	for i := range out.Jobs {
		job, ok := out.Jobs[i].Job.(*commitlog.DeleteJob)
		if !ok {
			continue
		}
		_, p, named := partitionDirectory(job.Path.Name)
		id, told := topicIDOf(m.Disk, job.Path.Name)
		entries := w.state.Ledger.Entries()
		if !named || !told || len(entries) == 0 {
			continue
		}
		w.findings.checked("M2")
		t := entries[len(entries)-1].Image.TopicByID(id)
		if t != nil && int(p) < t.PartitionCount() && t.Partition(p).HasReplica(kafka.BrokerID(m.Place)) {
			w.findings.fails("M2", "%s: removes the directory %s of id %s, which is of a replica that it hosts",
				m.Place, job.Path.Name, id)
		}
	}
}
