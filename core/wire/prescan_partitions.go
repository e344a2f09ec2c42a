package wire

// Memory of kmsg's types of the requests about leaders and replicas, as in prescan.go.
const (
	scanAlteredTopic     = 72
	scanAlteredPartition = 80
	scanAlteredMember    = 24
)

// scanPartitions is scanBody for the keys that change who leads, who is in sync and who replicates.
func scanPartitions(r *reader, key, version int16) bool {
	switch key {
	case KeyAlterPartition:
		scanAlterPartition(r, version)
	default:
		return false
	}
	return true
}

func scanAlterPartition(r *reader, version int16) {
	r.skip(4 + 8)
	for n := r.list(true, scanAlteredTopic); n > 0 && r.ok(); n-- {
		r.skip(16)
		for m := r.list(true, scanAlteredPartition); m > 0 && r.ok(); m-- {
			r.skip(4 + 4)
			if version < 3 {
				r.skip(4 * r.list(true, 4))
			} else {
				for k := r.list(true, scanAlteredMember); k > 0 && r.ok(); k-- {
					r.skip(4 + 8)
					r.scanTags(true)
				}
			}
			r.skip(1 + 4)
			r.scanTags(true)
		}
		r.scanTags(true)
	}
	r.scanTags(true)
}
