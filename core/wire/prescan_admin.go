package wire

// Memory of kmsg's types of the administration requests, as in prescan.go.
const (
	scanDescribeResource  = 56
	scanAlterResource     = 56
	scanIncrementalConfig = 56
	scanAlterConfig       = 48
	scanGrowTopic         = 56
	scanGrowAssignment    = 32
	scanDescribeTopic     = 24
	scanFeatureUpdate     = 32
	scanQuorumTopic       = 48
	scanQuorumPartition   = 16
	scanVoterListener     = 48
	scanPartitionsCursor  = 32
)

// scanAdmin is scanBody for the keys of administration.
func scanAdmin(r *reader, key, version int16) bool {
	switch key {
	case KeyDescribeConfigs:
		scanDescribeConfigs(r, version)
	case KeyAlterConfigs:
		scanAlterConfigs(r, version)
	case KeyCreatePartitions:
		scanCreatePartitions(r, version)
	case KeyIncrementalAlterConfigs:
		scanIncrementalAlterConfigs(r, version)
	case KeyDescribeQuorum:
		scanDescribeQuorum(r)
	case KeyUpdateFeatures:
		scanUpdateFeatures(r, version)
	case KeyDescribeCluster:
		r.skip(1 + min(1, int(version)) + max(0, int(version)-1))
		r.scanTags(true)
	case KeyUnregisterBroker:
		r.skip(4)
		r.scanTags(true)
	case KeyListConfigResources:
		if version >= 1 {
			r.skip(r.list(true, 1))
		}
		r.scanTags(true)
	case KeyDescribeTopicPartitions:
		scanDescribeTopicPartitions(r)
	case KeyAddRaftVoter:
		scanAddRaftVoter(r, version)
	case KeyRemoveRaftVoter:
		r.scanNullableText(true)
		r.skip(4 + 16)
		r.scanTags(true)
	case KeyUpdateRaftVoter:
		scanUpdateRaftVoter(r)
	case KeyMetadataIndex:
		r.scanTags(true)
	default:
		return scanPartitions(r, key, version)
	}
	return true
}

func scanDescribeConfigs(r *reader, version int16) {
	flexible := version >= 4
	for n := r.list(flexible, scanDescribeResource); n > 0 && r.ok(); n-- {
		r.skip(1)
		r.scanText(flexible)
		for m := r.nullableList(flexible, scanTextBytes); m > 0 && r.ok(); m-- {
			r.scanText(flexible)
		}
		r.scanTags(flexible)
	}
	r.skip(1)
	if version >= 3 {
		r.skip(1)
	}
	r.scanTags(flexible)
}

func scanAlterConfigs(r *reader, version int16) {
	flexible := version >= 2
	for n := r.list(flexible, scanAlterResource); n > 0 && r.ok(); n-- {
		r.skip(1)
		r.scanText(flexible)
		for m := r.list(flexible, scanAlterConfig); m > 0 && r.ok(); m-- {
			r.scanText(flexible)
			r.scanNullableText(flexible)
			r.scanTags(flexible)
		}
		r.scanTags(flexible)
	}
	r.skip(1)
	r.scanTags(flexible)
}

func scanIncrementalAlterConfigs(r *reader, version int16) {
	flexible := version >= 1
	for n := r.list(flexible, scanAlterResource); n > 0 && r.ok(); n-- {
		r.skip(1)
		r.scanText(flexible)
		for m := r.list(flexible, scanIncrementalConfig); m > 0 && r.ok(); m-- {
			r.scanText(flexible)
			r.skip(1)
			r.scanNullableText(flexible)
			r.scanTags(flexible)
		}
		r.scanTags(flexible)
	}
	r.skip(1)
	r.scanTags(flexible)
}

func scanCreatePartitions(r *reader, version int16) {
	flexible := version >= 2
	for n := r.list(flexible, scanGrowTopic); n > 0 && r.ok(); n-- {
		r.scanText(flexible)
		r.skip(4)
		for m := r.nullableList(flexible, scanGrowAssignment); m > 0 && r.ok(); m-- {
			r.skip(4 * r.list(flexible, 4))
			r.scanTags(flexible)
		}
		r.scanTags(flexible)
	}
	r.skip(4 + 1)
	r.scanTags(flexible)
}

func scanDescribeQuorum(r *reader) {
	for n := r.list(true, scanQuorumTopic); n > 0 && r.ok(); n-- {
		r.scanText(true)
		for m := r.list(true, scanQuorumPartition); m > 0 && r.ok(); m-- {
			r.skip(4)
			r.scanTags(true)
		}
		r.scanTags(true)
	}
	r.scanTags(true)
}

func scanUpdateFeatures(r *reader, version int16) {
	r.skip(4)
	for n := r.list(true, scanFeatureUpdate); n > 0 && r.ok(); n-- {
		r.scanText(true)
		r.skip(2 + 1) // v0 has a flag where later versions have a type
		r.scanTags(true)
	}
	if version >= 1 {
		r.skip(1)
	}
	r.scanTags(true)
}

func scanDescribeTopicPartitions(r *reader) {
	for n := r.list(true, scanDescribeTopic); n > 0 && r.ok(); n-- {
		r.scanText(true)
		r.scanTags(true)
	}
	r.skip(4)
	if present := r.take(1); r.ok() && int8(present[0]) != -1 {
		r.charge(scanPartitionsCursor)
		r.scanText(true)
		r.skip(4)
		r.scanTags(true)
	}
	r.scanTags(true)
}

func scanAddRaftVoter(r *reader, version int16) {
	r.scanNullableText(true)
	r.skip(4 + 4 + 16)
	scanVoterListeners(r)
	if version >= 1 {
		r.skip(1)
	}
	r.scanTags(true)
}

func scanUpdateRaftVoter(r *reader) {
	r.scanNullableText(true)
	r.skip(4 + 4 + 16)
	scanVoterListeners(r)
	r.skip(2 + 2)
	r.scanTags(true)
	r.scanTags(true)
}

func scanVoterListeners(r *reader) {
	for n := r.list(true, scanVoterListener); n > 0 && r.ok(); n-- {
		r.scanText(true)
		r.scanText(true)
		r.skip(2)
		r.scanTags(true)
	}
}
