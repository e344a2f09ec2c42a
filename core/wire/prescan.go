package wire

// A walker passes over a body by its schema, without decoding it, and charges what kmsg will
// allocate: elements by the size of kmsg's type, strings by their length, unknown tagged fields
// by what a map takes. kmsg itself bounds an array only by the bytes that are left, so that five
// million empty topic names in 9.5 MB would cost it 228 MB.

// Memory of kmsg's types, bytes, with what a pointer in them points to; a test compares them with
// the types.
const (
	scanTextBytes        = 16 // a string header
	scanUUIDBytes        = 16
	scanOffsetTopic      = 48
	scanOffsetPartition  = 32
	scanMetadataTopic    = 48
	scanCreateTopic      = 80
	scanCreateAssignment = 40
	scanCreateConfig     = 48
	scanDeleteTopic      = 48
	scanListener         = 48
	scanFeature          = 32
	scanTagsBytes        = 256 // a map with few entries
	scanTagBytes         = 64  // one more entry
)

// scanBody walks the body of a request that kmsg will read, and says whether there is a walker
// for the key.
func scanBody(r *reader, key, version int16) bool {
	switch key {
	case KeyListOffsets:
		scanListOffsets(r, version)
	case KeyMetadata:
		scanMetadata(r, version)
	case KeyApiVersions:
		scanApiVersions(r, version)
	case KeyCreateTopics:
		scanCreateTopics(r, version)
	case KeyDeleteTopics:
		scanDeleteTopics(r, version)
	case KeyInitProducerID:
		scanInitProducerID(r, version)
	case KeyBrokerRegistration:
		scanBrokerRegistration(r, version)
	case KeyBrokerHeartbeat:
		r.skip(4 + 8 + 8 + 1 + 1)
		r.scanTags(true)
	case KeyAllocateProducerIDs:
		r.skip(4 + 8)
		r.scanTags(true)
	case KeyMetadataFetch:
		r.skip(4)
		r.scanNullableText(true)
		r.skip(8 + 4 + 4)
		r.scanTags(true)
	case KeyQuorumHello:
		scanQuorumHello(r)
	case KeyQuorumMessages:
		scanQuorumMessages(r)
	case KeyQuorumSnapshot:
		scanQuorumSnapshot(r)
	default:
		return scanAdmin(r, key, version)
	}
	return true
}

// scanText walks a string, which kmsg copies; the allocator rounds up.
func (r *reader) scanText(flexible bool) { r.charge(int64(len(r.text(flexible))+7) &^ 7) }

func (r *reader) scanNullableText(flexible bool) {
	r.charge(int64(len(r.nullableText(flexible))+7) &^ 7)
}

// scanTags walks the tagged fields of a structure, if the version has any.
func (r *reader) scanTags(flexible bool) {
	if !flexible || r.noTags() {
		return
	}
	n := r.tagCount()
	r.charge(scanTagsBytes + int64(n)*scanTagBytes)
	for ; n > 0 && r.ok(); n-- {
		r.tag()
	}
}

func scanListOffsets(r *reader, version int16) {
	flexible := version >= 6
	partitionBytes := 4 + 8
	if version >= 4 {
		partitionBytes += 4
	}
	r.skip(4)
	if version >= 2 {
		r.skip(1)
	}
	for n := r.list(flexible, scanOffsetTopic); n > 0 && r.ok(); n-- {
		r.scanText(flexible)
		for m := r.list(flexible, scanOffsetPartition); m > 0 && r.ok(); m-- {
			r.skip(partitionBytes)
			r.scanTags(flexible)
		}
		r.scanTags(flexible)
	}
	if version >= 10 {
		r.skip(4)
	}
	r.scanTags(flexible)
}

func scanMetadata(r *reader, version int16) {
	flexible := version >= 9
	n := 0
	if version == 0 {
		n = r.list(flexible, scanMetadataTopic)
	} else {
		n = r.nullableList(flexible, scanMetadataTopic)
	}
	for ; n > 0 && r.ok(); n-- {
		if version >= 10 {
			r.skip(16)
			r.scanNullableText(flexible)
		} else {
			r.scanText(flexible)
		}
		r.scanTags(flexible)
	}
	if version >= 4 {
		r.skip(1)
	}
	if version >= 8 && version <= 10 {
		r.skip(1)
	}
	if version >= 8 {
		r.skip(1)
	}
	r.scanTags(flexible)
}

func scanApiVersions(r *reader, version int16) {
	if version >= 3 {
		r.scanText(true)
		r.scanText(true)
	}
	if version >= 5 {
		r.scanNullableText(true)
		r.skip(4)
	}
	r.scanTags(version >= 3)
}

func scanCreateTopics(r *reader, version int16) {
	flexible := version >= 5
	for n := r.list(flexible, scanCreateTopic); n > 0 && r.ok(); n-- {
		r.scanText(flexible)
		r.skip(4 + 2)
		for m := r.list(flexible, scanCreateAssignment); m > 0 && r.ok(); m-- {
			r.skip(4)
			r.skip(4 * r.list(flexible, 4))
			r.scanTags(flexible)
		}
		for m := r.list(flexible, scanCreateConfig); m > 0 && r.ok(); m-- {
			r.scanText(flexible)
			r.scanNullableText(flexible)
			r.scanTags(flexible)
		}
		r.scanTags(flexible)
	}
	r.skip(4 + 1)
	r.scanTags(flexible)
}

func scanDeleteTopics(r *reader, version int16) {
	flexible := version >= 4
	if version >= 6 {
		for n := r.list(flexible, scanDeleteTopic); n > 0 && r.ok(); n-- {
			r.scanNullableText(flexible)
			r.skip(16)
			r.scanTags(flexible)
		}
	} else {
		for n := r.list(flexible, scanTextBytes); n > 0 && r.ok(); n-- {
			r.scanText(flexible)
		}
	}
	r.skip(4)
	r.scanTags(flexible)
}

func scanInitProducerID(r *reader, version int16) {
	flexible := version >= 2
	r.scanNullableText(flexible)
	r.skip(4)
	if version >= 3 {
		r.skip(8 + 2)
	}
	r.scanTags(flexible)
}

func scanBrokerRegistration(r *reader, version int16) {
	r.skip(4)
	r.scanText(true)
	r.skip(16)
	for n := r.list(true, scanListener); n > 0 && r.ok(); n-- {
		r.scanText(true)
		r.scanText(true)
		r.skip(2 + 2)
		r.scanTags(true)
	}
	for n := r.list(true, scanFeature); n > 0 && r.ok(); n-- {
		r.scanText(true)
		r.skip(2 + 2)
		r.scanTags(true)
	}
	r.scanNullableText(true)
	if version >= 1 {
		r.skip(1)
	}
	if version >= 2 {
		r.skip(16 * r.list(true, scanUUIDBytes))
	}
	if version >= 3 {
		r.skip(8)
	}
	r.scanTags(true)
}
