package metadata

import (
	"fmt"

	"stet/core/kafka"
)

// The bytes of a record:
//
//	version  uint8   of the form of this kind, from 1
//	kind     uint8   recordKind
//	fields           as below; integers are varints, signed ones zigzag; strings, byte strings and
//	                 lists start with their length or count as an unsigned varint
//
// An entry of the log is
//
//	version  uint8   of the form of entries, 1
//	records          each a byte string, to the end of the entry
//
// and an entry without any bytes is raft's own and has no records. A reader refuses versions and
// kinds that it does not know, and bytes behind the last field: it can not know what they ask for.
const entryVersion = 1

// recordVersion returns the version of the form of a kind that all levels have. Older forms never left a
// raft log of a version that is still read.
func recordVersion(kind recordKind) byte {
	switch kind {
	case kindBroker, kindBrokerState, kindPartition:
		return 2
	}
	return 1
}

// Forms that a higher level brought. They are written for what needs them: below the level nothing does.
const (
	topicDatedVersion        = 2 // a topic that tells when it was created
	partitionReassignVersion = 3 // a partition with a reassignment
)

func versionOf(r Record) byte {
	switch r := r.(type) {
	case *TopicRecord:
		if r.Created != 0 {
			return topicDatedVersion
		}
	case *PartitionRecord:
		if r.Partition.Reassignment != nil {
			return partitionReassignVersion
		}
	}
	return recordVersion(r.kind())
}

// levelOf returns the level that brought a form; 0 if there is no such form.
func levelOf(kind recordKind, version byte) int16 {
	switch {
	case version == recordVersion(kind):
		return LevelFirst
	case kind == kindTopic && version == topicDatedVersion:
		return LevelTopicsDated
	case kind == kindPartition && version == partitionReassignVersion:
		return LevelReassignments
	}
	return 0
}

// checkVersion says why software of these levels does not read a form.
func (l Levels) checkVersion(kind recordKind, version byte) error {
	switch level := levelOf(kind, version); {
	case level == 0:
		return fmt.Errorf("kind %d of version %d; this software reads version %d",
			kind, version, recordVersion(kind))
	case level > l.Max:
		return fmt.Errorf("kind %d of version %d, which feature level %d brought; this software supports %d to %d",
			kind, version, level, l.Min, l.Max)
	}
	return nil
}

// AppendEntry appends the bytes of an entry that consists of the records.
func AppendEntry(dst []byte, records ...Record) []byte {
	dst = append(dst, entryVersion)
	for _, r := range records {
		dst = appendSized(dst, r)
	}
	return dst
}

// DecodeEntry reads what AppendEntry wrote. The records share no memory with the entry.
func DecodeEntry(entry []byte) ([]Record, error) { return decodeEntry(entry, BuildLevels()) }

func decodeEntry(entry []byte, levels Levels) ([]Record, error) {
	if len(entry) == 0 {
		return nil, nil
	}
	if entry[0] != entryVersion {
		return nil, fmt.Errorf("entry of version %d; this software reads version %d",
			entry[0], entryVersion)
	}
	in, known := reader{rest: entry[1:]}, &lists{}
	var records []Record
	for len(in.rest) > 0 && !in.bad {
		r, err := decodeRecord(in.bytes(), known, levels)
		if in.bad {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", len(records), err)
		}
		records = append(records, r)
	}
	if in.bad {
		return nil, fmt.Errorf("record %d: the entry ends inside it", len(records))
	}
	return records, nil
}

// appendSized appends a record with its length in front.
func appendSized(dst []byte, r Record) []byte {
	// The length is nearly always below 128, one byte; the record moves when it is not.
	start := len(dst)
	dst = appendRecord(append(dst, 0), r)
	n := len(dst) - start - 1
	if n < 0x80 {
		dst[start] = byte(n)
		return dst
	}
	prefix := appendUint(nil, uint64(n))
	dst = append(dst, prefix[1:]...)
	copy(dst[start+len(prefix):], dst[start+1:])
	copy(dst[start:], prefix)
	return dst
}

func appendRecord(dst []byte, r Record) []byte {
	version := versionOf(r)
	dst = append(dst, version, byte(r.kind()))
	switch r := r.(type) {
	case *ClusterRecord:
		dst = appendString(dst, r.ID)
		dst = appendInt(dst, int64(r.Features.Level))
	case *BrokerRecord:
		dst = appendBroker(dst, &r.Broker)
	case *BrokerStateRecord:
		dst = appendInt(dst, int64(r.ID))
		dst = appendInt(dst, int64(r.Epoch))
		dst = appendBool(dst, r.Fenced)
		dst = appendBool(dst, r.Stopping)
	case *BrokerRemovalRecord:
		dst = appendInt(dst, int64(r.ID))
		dst = appendInt(dst, int64(r.Epoch))
	case *VoterRecord:
		dst = appendVoter(dst, &r.Voter)
	case *VoterRemovalRecord:
		dst = appendUint(dst, r.ID)
	case *TopicRecord:
		dst = append(dst, r.ID[:]...)
		dst = appendString(dst, r.Name)
		dst = appendConfigs(dst, r.Configs)
		if version == topicDatedVersion {
			dst = appendInt(dst, r.Created)
		}
	case *PartitionRecord:
		dst = append(dst, r.TopicID[:]...)
		dst = appendInt(dst, int64(r.ID))
		dst = appendPartition(dst, &r.Partition)
	case *PartitionChangesRecord:
		dst = appendChanges(dst, r)
	case *TopicRemovalRecord:
		dst = append(dst, r.ID[:]...)
	case *ConfigRecord:
		dst = append(dst, byte(r.Resource.Type))
		dst = appendString(dst, r.Resource.Name)
		dst = appendString(dst, r.Name)
		dst = appendBool(dst, r.Deleted)
		dst = appendString(dst, r.Value)
	case *ProducerIDsRecord:
		dst = appendInt(dst, int64(r.Next))
		dst = appendInt(dst, int64(r.Broker))
		dst = appendInt(dst, int64(r.BrokerEpoch))
	case *positionRecord:
		dst = appendInt(dst, int64(r.Index))
	}
	return dst
}

func appendPartition(dst []byte, p *Partition) []byte {
	dst = appendBrokers(dst, p.Replicas)
	dst = appendDirectories(dst, p.Directories)
	dst = appendStanding(dst, &p.Standing)
	dst = appendInt(dst, int64(p.LeaderEpoch))
	dst = appendInt(dst, int64(p.Epoch))
	if r := p.Reassignment; r != nil {
		dst = appendBrokers(dst, r.Adding)
		dst = appendBrokers(dst, r.Removing)
	}
	return dst
}

func appendStanding(dst []byte, s *Standing) []byte {
	dst = appendBrokers(dst, s.ISR)
	dst = appendBrokers(dst, s.ELR)
	dst = appendInt(dst, int64(s.Leader))
	dst = appendInt(dst, int64(s.LastKnownLeader))
	return appendBool(dst, s.Recovering)
}

func appendChanges(dst []byte, r *PartitionChangesRecord) []byte {
	dst = append(dst, r.TopicID[:]...)
	dst = appendUint(dst, uint64(len(r.Changes)))
	for i := range r.Changes {
		c := &r.Changes[i]
		dst = appendInt(dst, int64(c.ID))
		dst = appendBool(dst, c.NewEpoch)
		dst = appendStanding(dst, &c.Standing)
	}
	return dst
}

func appendBrokers(dst []byte, ids []kafka.BrokerID) []byte {
	dst = appendUint(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = appendInt(dst, int64(id))
	}
	return dst
}

func appendDirectories(dst []byte, ids []DirectoryID) []byte {
	dst = appendUint(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = append(dst, id[:]...)
	}
	return dst
}

func appendConfigs(dst []byte, configs []ConfigEntry) []byte {
	dst = appendUint(dst, uint64(len(configs)))
	for _, c := range configs {
		dst = appendString(dst, c.Name)
		dst = appendString(dst, c.Value)
	}
	return dst
}

func decodeRecord(b []byte, known *lists, levels Levels) (Record, error) {
	if len(b) < 2 {
		return nil, fmt.Errorf("%d bytes are no record", len(b))
	}
	version, kind := b[0], recordKind(b[1])
	if err := levels.checkVersion(kind, version); err != nil {
		return nil, err
	}
	in := reader{rest: b[2:], known: known}
	r := in.record(kind, version)
	switch {
	case r == nil:
		return nil, fmt.Errorf("unknown kind %d", kind)
	case in.bad:
		return nil, fmt.Errorf("kind %d: malformed field", kind)
	case len(in.rest) > 0:
		return nil, fmt.Errorf("kind %d: %d bytes behind the last field", kind, len(in.rest))
	}
	return r, nil
}

func (in *reader) record(kind recordKind, version byte) Record {
	switch kind {
	case kindCluster:
		return &ClusterRecord{in.string(), Features{int16(in.int(16))}}
	case kindBroker:
		return &BrokerRecord{in.broker()}
	case kindBrokerState:
		return &BrokerStateRecord{in.brokerID(), kafka.BrokerEpoch(in.int(64)), in.bool(), in.bool()}
	case kindBrokerRemoval:
		return &BrokerRemovalRecord{in.brokerID(), kafka.BrokerEpoch(in.int(64))}
	case kindVoter:
		return &VoterRecord{in.voter()}
	case kindVoterRemoval:
		return &VoterRemovalRecord{in.uint(64)}
	case kindTopic:
		r := &TopicRecord{ID: kafka.TopicID(in.id()), Name: in.string(), Configs: in.configs()}
		if version == topicDatedVersion {
			if r.Created = in.int(64); r.Created == 0 {
				in.fail() // it would have another form
			}
		}
		return r
	case kindPartition:
		return &PartitionRecord{
			kafka.TopicID(in.id()), kafka.PartitionID(in.int(32)), in.partition(version),
		}
	case kindPartitionChanges:
		return &PartitionChangesRecord{kafka.TopicID(in.id()), in.changes()}
	case kindTopicRemoval:
		return &TopicRemovalRecord{kafka.TopicID(in.id())}
	case kindConfig:
		resource := Resource{ResourceType(in.byte()), in.string()}
		r := &ConfigRecord{Resource: resource, Name: in.string(), Deleted: in.bool()}
		r.Value = in.string()
		return r
	case kindProducerIDs:
		return &ProducerIDsRecord{
			kafka.ProducerID(in.int(64)), in.brokerID(), kafka.BrokerEpoch(in.int(64)),
		}
	case kindPosition:
		return &positionRecord{Index(in.int(64))}
	}
	return nil
}

func (in *reader) partition(version byte) Partition {
	p := Partition{Replicas: in.brokers(), Directories: in.directories(), Standing: in.standing()}
	p.LeaderEpoch, p.Epoch = kafka.LeaderEpoch(in.int(32)), kafka.PartitionEpoch(in.int(32))
	if version == partitionReassignVersion {
		p.Reassignment = &Reassignment{in.brokers(), in.brokers()}
		if len(p.reassignment().Adding)+len(p.reassignment().Removing) == 0 {
			in.fail() // it would have another form
		}
	}
	return p
}

func (in *reader) standing() Standing {
	s := Standing{ISR: in.brokers(), ELR: in.brokers()}
	s.Leader, s.LastKnownLeader, s.Recovering = in.brokerID(), in.brokerID(), in.bool()
	return s
}

func (in *reader) changes() []PartitionUpdate {
	var out []PartitionUpdate
	for range in.count(7) {
		u := PartitionUpdate{ID: kafka.PartitionID(in.int(32)), NewEpoch: in.bool()}
		u.Standing = in.standing()
		out = append(out, u)
	}
	return out
}

func (in *reader) brokerID() kafka.BrokerID { return kafka.BrokerID(in.int(32)) }

func (in *reader) configs() []ConfigEntry {
	var configs []ConfigEntry
	for range in.count(2) {
		configs = append(configs, ConfigEntry{in.string(), in.string()})
	}
	return configs
}
