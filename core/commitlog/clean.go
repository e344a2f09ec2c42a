package commitlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"stet/core/kafka"
)

// KafkaCleanName is Kafka's clean-shutdown file at a data directory's root.
const KafkaCleanName = ".kafka_cleanshutdown"

// AppendKafkaClean encodes a .kafka_cleanshutdown file (CleanShutdownFileHandler).
func AppendKafkaClean(dst []byte, epoch kafka.BrokerEpoch) []byte {
	return fmt.Appendf(dst, `{"version":0,"brokerEpoch":%d}`, epoch)
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
