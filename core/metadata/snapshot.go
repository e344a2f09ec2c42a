package metadata

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"stet/core/kafka"
)

// A snapshot is
//
//	version  uint8   of the form of snapshots, 1
//	records          each a byte string: position, cluster, producer ids, voters and brokers by id,
//	                 topics by name with their partitions, settings of other resources
//	crc      uint32  CRC-32C of all before it, little endian
const snapshotVersion = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendSnapshot appends the canonical bytes of the image: equal images have equal bytes.
func (m *Image) AppendSnapshot(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, snapshotVersion)
	dst = appendSized(dst, &positionRecord{m.index})
	if m.clusterID != "" {
		dst = appendSized(dst, &ClusterRecord{m.clusterID, m.features})
	}
	if m.nextProducerID != 0 {
		dst = appendSized(dst, &ProducerIDsRecord{m.nextProducerID, kafka.NoBroker, brokerEpochFromIndex})
	}
	for v := range m.Voters() {
		dst = appendSized(dst, &VoterRecord{*v})
	}
	for b := range m.Brokers() {
		dst = appendSized(dst, &BrokerRecord{*b})
	}
	for t := range m.Topics() {
		dst = appendTopic(dst, t)
	}
	m.configs.walk(func(r resourceKey, entries *[]ConfigEntry) {
		for _, e := range *entries {
			dst = appendSized(dst, &ConfigRecord{Resource: Resource(r), Name: e.Name, Value: e.Value})
		}
	})
	crc := crc32.Checksum(dst[start:], castagnoli)
	return binary.LittleEndian.AppendUint32(dst, crc)
}

func appendTopic(dst []byte, t *Topic) []byte {
	dst = appendSized(dst, &TopicRecord{t.ID, t.Name, t.configs, t.Created})
	r := PartitionRecord{TopicID: t.ID}
	for i := range t.partitions.count {
		r.ID, r.Partition = kafka.PartitionID(i), *t.partitions.get(i)
		dst = appendSized(dst, &r)
	}
	return dst
}

// DecodeSnapshot reads what AppendSnapshot wrote. The image shares no memory with the bytes.
func DecodeSnapshot(b []byte) (*Image, error) {
	return BuildLevels().DecodeSnapshot(b)
}

// SnapshotRecords returns the records of a snapshot that DecodeSnapshot accepts, for people: what
// would make its image of an empty one.
func SnapshotRecords(b []byte) ([]Record, error) {
	body, err := openSnapshot(b)
	if err != nil {
		return nil, err
	}
	in, known := reader{rest: body}, &lists{}
	in.bytes() // the position
	var records []Record
	for len(in.rest) > 0 && !in.bad {
		r, err := decodeRecord(in.bytes(), known, BuildLevels())
		if err != nil {
			return records, err
		}
		records = append(records, r)
	}
	return records, nil
}

// openSnapshot returns the bytes of the records.
func openSnapshot(b []byte) ([]byte, error) {
	if len(b) < 5 || b[0] != snapshotVersion {
		return nil, fmt.Errorf("not a metadata snapshot of version %d", snapshotVersion)
	}
	body, crc := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc != crc32.Checksum(body, castagnoli) {
		return nil, fmt.Errorf("metadata snapshot of %d bytes: wrong checksum", len(b))
	}
	return body[1:], nil
}

func decodeSnapshotBody(records []byte, levels Levels) (*Image, error) {
	in, known := reader{rest: records}, &lists{}
	first, err := decodeRecord(in.bytes(), known, levels)
	position, ok := first.(*positionRecord)
	if err != nil || !ok {
		return nil, fmt.Errorf("metadata snapshot without a position")
	}
	l := loader{editor: editor{index: position.Index}}
	for n := 1; len(in.rest) > 0; n++ {
		r, err := decodeRecord(in.bytes(), known, levels)
		if err == nil {
			err = l.load(r)
		}
		if err != nil {
			return nil, fmt.Errorf("metadata snapshot of index %d, record %d: %w", l.index, n, err)
		}
	}
	if err := l.finish(); err != nil {
		return nil, fmt.Errorf("metadata snapshot of index %d: %w", l.index, err)
	}
	return &l.image, nil
}

// loader builds the image of a snapshot. Topics come in the order of their names and with all their
// partitions behind them, so the trees are made in one go at the end.
type loader struct {
	editor
	topics []*Topic
}

func (l *loader) load(r Record) error {
	switch r := r.(type) {
	case *TopicRecord:
		if n := len(l.topics); n > 0 && l.topics[n-1].Name >= r.Name {
			return fmt.Errorf("topic %q is out of order", r.Name)
		}
		l.topics = append(l.topics, &Topic{Name: r.Name, ID: r.ID, Created: r.Created, configs: r.Configs})
		return nil
	case *PartitionRecord:
		n := len(l.topics)
		if n == 0 || l.topics[n-1].ID != r.TopicID || int(r.ID) != l.topics[n-1].partitions.count {
			return fmt.Errorf("partition %d of topic %s is out of order", r.ID, r.TopicID)
		}
		l.topics[n-1].partitions.append(compactPartition(&r.Partition))
		l.image.partitionCount++
		return nil
	}
	return l.apply(r)
}

func (l *loader) finish() error {
	names := make([]topicName, len(l.topics))
	for i, t := range l.topics {
		names[i] = topicName(t.Name)
	}
	l.image.byName = fromSorted(names, l.topics)
	slices.SortFunc(l.topics, func(a, b *Topic) int { return topicID(a.ID).compare(topicID(b.ID)) })
	ids := make([]topicID, len(l.topics))
	for i, t := range l.topics {
		if ids[i] = topicID(t.ID); i > 0 && ids[i] == ids[i-1] {
			return fmt.Errorf("two topics with id %s", t.ID)
		}
	}
	l.image.byID = fromSorted(ids, l.topics)
	l.image.index = l.index
	return nil
}
