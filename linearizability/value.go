package linearizability

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"strconv"
	"strings"
)

// ClientID names a simulated or real client of a run. Valid ids are >= 0.
type ClientID int32

// GarbageClient is the client of a value that was read but does not parse: nobody sent it.
const GarbageClient ClientID = -1

// Value is the identity of one record. The bytes of a record's value hold it (AppendValue), so that
// whatever comes back can be traced to the send that made it, or to none.
type Value struct {
	Client ClientID
	Seq    int64  // counts the client's records, from 0
	Nonce  uint64 // drawn per record; tells runs and fabrications apart
	Invoke Step   // the step at which the send was invoked
}

// String gives client.seq.nonce.invoke, the form used in history files and evidence.
func (v Value) String() string {
	return fmt.Sprintf("%d.%d.%x.%d", v.Client, v.Seq, v.Nonce, v.Invoke)
}

// MarshalText writes the form of String.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the form of String.
func (v *Value) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), ".")
	if len(parts) != 4 {
		return fmt.Errorf("value %q: want client.seq.nonce.invoke", text)
	}
	client, err1 := strconv.ParseInt(parts[0], 10, 32)
	seq, err2 := strconv.ParseInt(parts[1], 10, 64)
	nonce, err3 := strconv.ParseUint(parts[2], 16, 64)
	invoke, err4 := strconv.ParseInt(parts[3], 10, 64)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			return fmt.Errorf("value %q: %w", text, err)
		}
	}
	*v = Value{ClientID(client), seq, nonce, Step(invoke)}
	return nil
}

// The bytes of a record value, big endian. The padding is a function of the nonce, so that a
// record whose tail was torn or mixed up does not parse.
//
//	0       4        8      16      24       32     36
//	+-------+--------+------+-------+--------+------+---------+
//	| magic | client | seq  | nonce | invoke | crc  | padding |
//	+-------+--------+------+-------+--------+------+---------+
//
// The CRC-32C covers the bytes before it and the total length.
const (
	valueMagic = "Stv1"

	// ValueSizeBytes is the size of the smallest record value.
	ValueSizeBytes = 36
)

// AppendValue appends the record bytes of v, sizeBytes long (at least ValueSizeBytes).
func AppendValue(dst []byte, v Value, sizeBytes int) []byte {
	sizeBytes = max(sizeBytes, ValueSizeBytes)
	start := len(dst)
	dst = append(dst, valueMagic...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(v.Client))
	dst = binary.BigEndian.AppendUint64(dst, uint64(v.Seq))
	dst = binary.BigEndian.AppendUint64(dst, v.Nonce)
	dst = binary.BigEndian.AppendUint64(dst, uint64(v.Invoke))
	dst = binary.BigEndian.AppendUint32(dst, valueCRC(dst[start:], sizeBytes))
	pad := padding{v.Nonce}
	for len(dst)-start < sizeBytes {
		dst = append(dst, pad.next())
	}
	return dst
}

// ParseValue reads the bytes of a record value. Bytes that AppendValue did not write give a value
// of GarbageClient whose nonce is a hash of the bytes, so that garbage too has an identity.
func ParseValue(b []byte) Value {
	if v, ok := parseValue(b); ok {
		return v
	}
	h := fnv.New64a()
	h.Write(b)
	return Value{Client: GarbageClient, Seq: int64(len(b)), Nonce: h.Sum64()}
}

func parseValue(b []byte) (Value, bool) {
	if len(b) < ValueSizeBytes || string(b[:4]) != valueMagic {
		return Value{}, false
	}
	if binary.BigEndian.Uint32(b[32:]) != valueCRC(b[:32], len(b)) {
		return Value{}, false
	}
	v := Value{
		Client: ClientID(binary.BigEndian.Uint32(b[4:])),
		Seq:    int64(binary.BigEndian.Uint64(b[8:])),
		Nonce:  binary.BigEndian.Uint64(b[16:]),
		Invoke: Step(binary.BigEndian.Uint64(b[24:])),
	}
	pad := padding{v.Nonce}
	for _, got := range b[ValueSizeBytes:] {
		if got != pad.next() {
			return Value{}, false
		}
	}
	return v, true
}

func valueCRC(head []byte, sizeBytes int) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(sizeBytes))
	return crc32.Update(crc32.Checksum(head[:32], table), table, size[:])
}

// padding is the stream of filler bytes of a nonce (a splitmix step a byte).
type padding struct{ state uint64 }

func (p *padding) next() byte {
	p.state += 0x9e3779b97f4a7c15
	z := p.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return byte(z >> 56)
}
