package wire

import "encoding/binary"

func appendInt16(dst []byte, v int16) []byte { return binary.BigEndian.AppendUint16(dst, uint16(v)) }

func appendInt32(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }

func appendInt64(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }

// appendLength appends the length of bytes or of an array; -1 is null.
func appendLength(dst []byte, n int, flexible bool) []byte {
	if flexible {
		return binary.AppendUvarint(dst, uint64(n+1))
	}
	return appendInt32(dst, int32(n))
}

func appendText(dst []byte, s string, flexible bool) []byte {
	if flexible {
		dst = binary.AppendUvarint(dst, uint64(len(s)+1))
	} else {
		dst = appendInt16(dst, int16(len(s)))
	}
	return append(dst, s...)
}

// appendNullableText appends s, or null.
func appendNullableText(dst []byte, s string, null, flexible bool) []byte {
	switch {
	case !null:
		return appendText(dst, s, flexible)
	case flexible:
		return append(dst, 0)
	}
	return appendInt16(dst, -1)
}

// appendTag appends the head of a tagged field whose value has size bytes.
func appendTag(dst []byte, tag, size int) []byte {
	dst = binary.AppendUvarint(dst, uint64(tag))
	return binary.AppendUvarint(dst, uint64(size))
}

// appendTopic appends what names a topic: the id if the version has ids, the name otherwise.
func appendTopic(dst []byte, t *responseTopic, byID, flexible bool) []byte {
	if byID {
		return append(dst, t.id[:]...)
	}
	return appendText(dst, t.name, flexible)
}
