package wire

// Memory of kmsg's types of the requests about what replicas hold, as in prescan.go.
const (
	scanEpochTopic     = 48
	scanEpochPartition = 24
	scanLogDirTopic    = 48
)

// scanReplicas is scanBody for the keys that tell what replicas hold.
func scanReplicas(r *reader, key, version int16) bool {
	switch key {
	case KeyOffsetForLeaderEpoch:
		scanOffsetForLeaderEpoch(r, version)
	case KeyDescribeLogDirs:
		scanDescribeLogDirs(r, version)
	case KeyReplicaStatus:
		r.scanText(true)
		r.scanTags(true)
	default:
		return false
	}
	return true
}

func scanOffsetForLeaderEpoch(r *reader, version int16) {
	flexible := version >= 4
	if version >= 3 {
		r.skip(4)
	}
	for n := r.list(flexible, scanEpochTopic); n > 0 && r.ok(); n-- {
		r.scanText(flexible)
		for m := r.list(flexible, scanEpochPartition); m > 0 && r.ok(); m-- {
			r.skip(4 + 4 + 4)
			r.scanTags(flexible)
		}
		r.scanTags(flexible)
	}
	r.scanTags(flexible)
}

func scanDescribeLogDirs(r *reader, version int16) {
	flexible := version >= 2
	for n := r.nullableList(flexible, scanLogDirTopic); n > 0 && r.ok(); n-- {
		r.scanText(flexible)
		r.skip(4 * r.list(flexible, 4))
		r.scanTags(flexible)
	}
	r.scanTags(flexible)
}
