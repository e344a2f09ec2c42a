package record

import "encoding/binary"

// ControlType says what a control record stands for.
type ControlType int16

const (
	NoControl     ControlType = -1 // not a control batch, or one that cannot be read
	ControlAbort  ControlType = 0
	ControlCommit ControlType = 1
)

// Control is the content of an end-of-transaction marker:
//
//	key    int16 version (0), int16 type
//	value  int16 version (0), int32 coordinatorEpoch
type Control struct {
	Type             ControlType
	CoordinatorEpoch int32
}

// ParseControl reads the record of a control batch. Other types than abort and commit, which only
// Kafka's metadata log has, are returned as they are, without an epoch.
func ParseControl(key, value []byte) (Control, bool) {
	if len(key) < 4 || int16(binary.BigEndian.Uint16(key)) < 0 {
		return Control{Type: NoControl}, false
	}
	c := Control{Type: ControlType(binary.BigEndian.Uint16(key[2:]))}
	if c.Type != ControlAbort && c.Type != ControlCommit {
		return c, true
	}
	if len(value) < 6 {
		return Control{Type: NoControl}, false
	}
	c.CoordinatorEpoch = int32(binary.BigEndian.Uint32(value[2:]))
	return c, true
}

// AppendMarker appends the batch of an end-of-transaction marker to dst. Spec gives the producer
// and the offset; Control, Transactional and no compression are implied.
func AppendMarker(dst []byte, spec Spec, c Control, timestamp int64) []byte {
	spec.Control, spec.Transactional, spec.Codec = true, true, None
	key := binary.BigEndian.AppendUint16(make([]byte, 2, 4), uint16(c.Type))
	value := binary.BigEndian.AppendUint32(make([]byte, 2, 6), uint32(c.CoordinatorEpoch))
	b := Builder{Spec: spec}
	b.Add(Record{Timestamp: timestamp, Key: key, Value: value})
	return b.Build(dst, nil)
}

// readControl fills Control from the first record of a control batch. A batch that holds something
// else keeps NoControl. Brokers never compress markers.
func (f *Facts) readControl(v View) {
	if !f.Attributes.IsControl() || f.Attributes.Codec() != None || f.Count <= 0 {
		return
	}
	var raw rawRecord
	if raw.read(&cursor{b: v.Payload()}) {
		f.Control, _ = ParseControl(raw.key, raw.value)
	}
}
