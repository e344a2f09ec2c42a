package crashpoints

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"

	"stet/core/env"
	"stet/core/kafka"
	"stet/scenarios/storedlog"
	"stet/sim"
)

func partitionPath(topic string) env.Path { return env.Path{Name: topic + "-0"} }

func segmentPath(topic string, base kafka.Offset, suffix string) env.Path {
	return storedlog.SegmentPath(partitionPath(topic), base, suffix)
}

// readLog reads what processes see of partition 0 of a topic.
func readLog(d *sim.Disk, topic string) *storedlog.Log {
	return storedlog.Read(d, partitionPath(topic), storedlog.Cached)
}

// imprint is a hash over all names and bytes of a disk as processes see it.
func imprint(d *sim.Disk) string {
	h := sha256.New()
	imprintDir(h, d, env.Path{})
	return string(h.Sum(nil))
}

func imprintDir(h hash.Hash, d *sim.Disk, dir env.Path) {
	for _, e := range d.Entries(dir) {
		path := env.Path{Name: strings.TrimPrefix(dir.Name+"/"+e.Name, "/")}
		fmt.Fprintf(h, "%q %v %d\n", path.Name, e.Dir, e.Size)
		if e.Dir {
			imprintDir(h, d, path)
			continue
		}
		content, _ := d.Bytes(path)
		h.Write(content)
	}
}
