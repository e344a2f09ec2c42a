package metadata

import "encoding/binary"

func appendUint(dst []byte, v uint64) []byte { return binary.AppendUvarint(dst, v) }
func appendInt(dst []byte, v int64) []byte   { return binary.AppendVarint(dst, v) }

func appendString(dst []byte, s string) []byte {
	return append(appendUint(dst, uint64(len(s))), s...)
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// reader takes fields off the front of a record. After the first malformed field bad is set and
// everything reads as zero, so that only the end has to be checked. No field makes it allocate more
// than a small multiple of the bytes that are there.
type reader struct {
	rest  []byte
	bad   bool
	known *lists // that were read before
}

func (in *reader) fail() {
	in.rest, in.bad = nil, true
}

// uint reads an unsigned integer that fits into so many bits. Only the shortest form is accepted,
// so that equal images have equal bytes.
func (in *reader) uint(bits int) uint64 {
	v, n := binary.Uvarint(in.rest)
	if n <= 0 || n > 1 && in.rest[n-1] == 0 || v>>(bits-1)>>1 != 0 {
		in.fail()
		return 0
	}
	in.rest = in.rest[n:]
	return v
}

// int reads a signed integer that fits into so many bits.
func (in *reader) int(bits int) int64 {
	v := in.uint(bits)
	return int64(v>>1) ^ -int64(v&1)
}

func (in *reader) byte() byte {
	if len(in.rest) == 0 {
		in.fail()
		return 0
	}
	b := in.rest[0]
	in.rest = in.rest[1:]
	return b
}

func (in *reader) bool() bool {
	b := in.byte()
	if b > 1 {
		in.fail()
	}
	return b == 1
}

func (in *reader) id() (id [16]byte) {
	if len(in.rest) < len(id) {
		in.fail()
		return id
	}
	in.rest = in.rest[copy(id[:], in.rest):]
	return id
}

// bytes reads a byte string, as a view.
func (in *reader) bytes() []byte {
	n := in.uint(63)
	if n > uint64(len(in.rest)) {
		in.fail()
		return nil
	}
	b := in.rest[:n]
	in.rest = in.rest[n:]
	return b
}

func (in *reader) string() string { return string(in.bytes()) }

// count reads the number of elements of a list, each at least so many bytes long.
func (in *reader) count(elementBytes int) int {
	n := in.uint(31)
	if n > uint64(len(in.rest)/elementBytes) {
		in.fail()
		return 0
	}
	return int(n)
}
