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

// Two files of our own, below a data directory's root, with the same content. LifeName says which
// process opened the directory last; it is written before any replica is opened. CleanMarkerName says
// which process closed it cleanly; it is removed before the first write of the next one. A marker
// holds only if it names the life that the other file names, so one that came back, or that was
// brought from elsewhere, is not believed.
const (
	LifeName        = "stet/life"
	CleanMarkerName = "stet/clean"
)

// Life names one life of a process in one data directory.
type Life struct {
	BootID      string // of the kernel: what was only in memory survived if it is still the same
	Incarnation [16]byte
	DirectoryID string
}

// AppendLife encodes either file:
//
//	int16 version (1), uint32 CRC-32C of what follows,
//	uint8 length and boot id, 16 bytes incarnation, uint8 length and directory id
func AppendLife(dst []byte, l Life) []byte {
	body := append([]byte{byte(len(l.BootID))}, l.BootID...)
	body = append(body, l.Incarnation[:]...)
	body = append(body, byte(len(l.DirectoryID)))
	body = append(body, l.DirectoryID...)
	return appendSealed(dst, 1, body)
}

// DecodeLife decodes either file.
func DecodeLife(b []byte) (Life, error) {
	var l Life
	body, err := openSealed(b, 1)
	if err != nil {
		return l, err
	}
	r := reader{b: body}
	l.BootID = string(r.take(int(r.uint8())))
	copy(l.Incarnation[:], r.take(len(l.Incarnation)))
	l.DirectoryID = string(r.take(int(r.uint8())))
	return l, r.finish()
}

// CheckCleanMarker returns why a clean-start marker does not hold, or nil. It takes the contents of
// the marker and of the file that names the last life, and the id of the directory.
func CheckCleanMarker(marker, life []byte, directoryID string) error {
	closed, err := DecodeLife(marker)
	if err != nil {
		return fmt.Errorf("%s: %w", CleanMarkerName, err)
	}
	opened, err := DecodeLife(life)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", LifeName, err)
	case closed.DirectoryID != directoryID:
		return fmt.Errorf("it is of directory %s, this is %s", closed.DirectoryID, directoryID)
	case closed.Incarnation != opened.Incarnation:
		return fmt.Errorf("it is of life %x, the last one was %x", closed.Incarnation, opened.Incarnation)
	case closed != opened:
		return fmt.Errorf("%s is of the same process, but another boot or directory", LifeName)
	}
	return nil
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
