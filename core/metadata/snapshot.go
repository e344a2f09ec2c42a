package metadata

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"stet/core/kafka"
)

// A snapshot is
//
//	version  uint8   of the form of snapshots, 1
//	records          each a byte string: position, cluster, producer ids, brokers by id, topics by
//	                 name with their partitions, settings of other resources
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
	dst = appendSized(dst, &TopicRecord{t.ID, t.Name, t.configs})
	r := PartitionRecord{TopicID: t.ID}
	for i := range t.partitions.count {
		r.ID, r.Partition = kafka.PartitionID(i), *t.partitions.get(i)
		dst = appendSized(dst, &r)
	}
	return dst
}

// DecodeSnapshot reads what AppendSnapshot wrote. The image shares no memory with the bytes.
func DecodeSnapshot(b []byte) (*Image, error) {
	if len(b) < 5 || b[0] != snapshotVersion {
		return nil, fmt.Errorf("not a metadata snapshot of version %d", snapshotVersion)
	}
	body, crc := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc != crc32.Checksum(body, castagnoli) {
		return nil, fmt.Errorf("metadata snapshot of %d bytes: wrong checksum", len(b))
	}
	return decodeSnapshotBody(body[1:])
}

func decodeSnapshotBody(records []byte) (*Image, error) {
	in := reader{rest: records}
	first, err := decodeRecord(in.bytes())
	position, ok := first.(*positionRecord)
	if err != nil || !ok {
		return nil, fmt.Errorf("metadata snapshot without a position")
	}
	e := editor{index: position.Index}
	for n := 1; len(in.rest) > 0; n++ {
		r, err := decodeRecord(in.bytes())
		if err == nil {
			err = e.apply(r)
		}
		if err != nil {
			return nil, fmt.Errorf("metadata snapshot of index %d, record %d: %w", e.index, n, err)
		}
	}
	e.closeTopic()
	e.image.index = e.index
	return &e.image, nil
}
