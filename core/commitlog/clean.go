package commitlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"stet/core/kafka"
)

// KafkaCleanName is Kafka's clean-shutdown file at a data directory's root.
const KafkaCleanName = ".kafka_cleanshutdown"

// AppendKafkaClean encodes a .kafka_cleanshutdown file (CleanShutdownFileHandler).
func AppendKafkaClean(dst []byte, epoch kafka.BrokerEpoch) []byte {
	return fmt.Appendf(dst, `{"version":0,"brokerEpoch":%d}`, epoch)
}

// DecodeKafkaClean decodes a .kafka_cleanshutdown file.
func DecodeKafkaClean(b []byte) (kafka.BrokerEpoch, error) {
	text := strings.Join(strings.Fields(string(b)), "")
	text, ok1 := strings.CutPrefix(text, `{"version":0,"brokerEpoch":`)
	text, ok2 := strings.CutSuffix(text, "}")
	epoch, err := strconv.ParseInt(text, 10, 64)
	if !ok1 || !ok2 || err != nil {
		return -1, fmt.Errorf("clean-shutdown file %q: want version 0 and a broker epoch", b)
	}
	return kafka.BrokerEpoch(epoch), nil
}

// CleanMarkerName is our own clean-start marker, below a data directory's root. It holds only
// together with what it names: a directory that was copied, rolled back or attached to another
// node does not start clean, and the marker is removed before the first write.
const CleanMarkerName = "stet/clean"

// CleanMarker says that the directory was stopped cleanly, by whom.
type CleanMarker struct {
	BootID      string // of the kernel, so that the marker tells whether memory survived
	Incarnation [16]byte
	DirectoryID string
}

// AppendCleanMarker encodes a clean-start marker:
//
//	int16 version (1), uint32 CRC-32C of what follows,
//	uint8 length and boot id, 16 bytes incarnation, uint8 length and directory id
func AppendCleanMarker(dst []byte, m CleanMarker) []byte {
	body := append([]byte{byte(len(m.BootID))}, m.BootID...)
	body = append(body, m.Incarnation[:]...)
	body = append(body, byte(len(m.DirectoryID)))
	body = append(body, m.DirectoryID...)
	return appendSealed(dst, 1, body)
}

// DecodeCleanMarker decodes a clean-start marker.
func DecodeCleanMarker(b []byte) (CleanMarker, error) {
	var m CleanMarker
	body, err := openSealed(b, 1)
	if err != nil {
		return m, err
	}
	r := reader{b: body}
	m.BootID = string(r.take(int(r.uint8())))
	copy(m.Incarnation[:], r.take(len(m.Incarnation)))
	m.DirectoryID = string(r.take(int(r.uint8())))
	return m, r.finish()
}

// appendSealed appends int16 version, the CRC-32C of body and body.
func appendSealed(dst []byte, version int16, body []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(version))
	dst = binary.BigEndian.AppendUint32(dst, crc32.Checksum(body, castagnoli()))
	return append(dst, body...)
}

// openSealed returns the body of what appendSealed made.
func openSealed(b []byte, version int16) ([]byte, error) {
	if len(b) < 6 {
		return nil, fmt.Errorf("%d bytes, too short for a header", len(b))
	}
	if v := int16(binary.BigEndian.Uint16(b)); v != version {
		return nil, fmt.Errorf("version %d, want %d", v, version)
	}
	if crc32.Checksum(b[6:], castagnoli()) != binary.BigEndian.Uint32(b[2:]) {
		return nil, fmt.Errorf("checksum does not match")
	}
	return b[6:], nil
}

// castagnoli returns the table of CRC-32C; the library makes it once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
