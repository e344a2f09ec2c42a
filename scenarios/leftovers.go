package scenarios

import (
	"strings"

	"stet/core/commitlog"
)

// leftovers lists the files in the cache that belong to replicas of no topic of the broker's image.
// Those of a removal that had begun when its process died are not counted: the next start that meets
// no fault removes them.
func (m *monitor) leftovers() (names []string) {
	b := brokerOf(m.machine)
	if b == nil {
		return []string{"the broker does not run"}
	}
	for _, name := range m.machine.Disk.Files(0) {
		directory, _, nested := strings.Cut(name, "/")
		if !nested || directory == "stet" || commitlog.IsDeletedName(directory) {
			continue
		}
		if topic, _, ok := partitionDirectory(directory); !ok || b.Image().Topic(topic) == nil {
			names = append(names, name)
		}
	}
	return names
}

// checkLeftovers is the half of M2 that a topic's deletion alone shows: its files go away, at the
// latest soon after the faults have ended.
func (r *run) checkLeftovers() {
	gone := func() bool { return len(r.monitor.leftovers()) == 0 }
	if !r.until("M2", "the files of deleted topics are removed", probeTime, gone) {
		r.findings.evidence = append(r.findings.evidence, r.monitor.leftovers()...)
	}
}
