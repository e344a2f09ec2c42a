package wire

// Memory of kmsg's types of the requests about leaders and replicas, as in prescan.go.
const (
	scanAlteredTopic     = 72
	scanAlteredPartition = 80
	scanAlteredMember    = 24
	scanElectedTopic     = 48
	scanReassigned       = 40
	scanReassignedTopic  = 48
	scanListedTopic      = 48
)

// scanPartitions is scanBody for the keys that change who leads, who is in sync and who replicates.
func scanPartitions(r *reader, key, version int16) bool {
	switch key {
	case KeyElectLeaders:
		scanElectLeaders(r, version)
	case KeyAlterPartitionReassignments:
		scanAlterReassignments(r, version)
	case KeyListPartitionReassignments:
		r.skip(4)
		for n := r.nullableList(true, scanListedTopic); n > 0 && r.ok(); n-- {
			r.scanText(true)
			r.skip(4 * r.list(true, 4))
			r.scanTags(true)
		}
		r.scanTags(true)
	case KeyAlterPartition:
		scanAlterPartition(r, version)
	default:
		return scanReplicas(r, key, version)
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

func scanElectLeaders(r *reader, version int16) {
	flexible := version >= 2
	if version >= 1 {
		r.skip(1)
	}
	for n := r.nullableList(flexible, scanElectedTopic); n > 0 && r.ok(); n-- {
		r.scanText(flexible)
		r.skip(4 * r.list(flexible, 4))
		r.scanTags(flexible)
	}
	r.skip(4)
	r.scanTags(flexible)
}

func scanAlterReassignments(r *reader, version int16) {
	r.skip(4)
	if version >= 1 {
		r.skip(1)
	}
	for n := r.list(true, scanReassignedTopic); n > 0 && r.ok(); n-- {
		r.scanText(true)
		for m := r.list(true, scanReassigned); m > 0 && r.ok(); m-- {
			r.skip(4)
			r.skip(4 * r.nullableList(true, 4))
			r.scanTags(true)
		}
		r.scanTags(true)
	}
	r.scanTags(true)
}
