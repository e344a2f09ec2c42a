package record

import "math/bits"

// cursor reads the fields of a record. After the first byte that is missing or wrong, bad is set,
// at no longer moves, and the results mean nothing; it is enough to look at bad in the end.
type cursor struct {
	b   []byte
	at  int
	bad bool
}

// varint reads a zigzag int32 of at most five bytes.
func (c *cursor) varint() int32 {
	if c.at < len(c.b) && c.b[c.at] < 0x80 {
		x := c.b[c.at]
		c.at++
		return int32(x>>1) ^ -int32(x&1)
	}
	x := c.unsigned(32)
	return int32(uint32(x)>>1) ^ -int32(x&1)
}

// varlong reads a zigzag int64 of at most ten bytes.
func (c *cursor) varlong() int64 {
	if c.at < len(c.b) && c.b[c.at] < 0x80 {
		x := c.b[c.at]
		c.at++
		return int64(x>>1) ^ -int64(x&1)
	}
	x := c.unsigned(64)
	return int64(x>>1) ^ -int64(x&1)
}

// unsigned reads a varint of at most width bits.
func (c *cursor) unsigned(width int) (x uint64) {
	for shift, at := 0, c.at; at < len(c.b); shift, at = shift+7, at+1 {
		b := c.b[at]
		if shift+bits.Len8(b&0x7f) > width || shift >= width {
			break
		}
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			c.at = at + 1
			return x
		}
	}
	c.bad = true
	return 0
}

// byte reads one byte.
func (c *cursor) byte() byte {
	if c.at >= len(c.b) {
		c.bad = true
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

// bytes reads n bytes; the result has no spare capacity and is not nil unless bad.
func (c *cursor) bytes(n int32) []byte {
	if n < 0 || int64(n) > int64(len(c.b)-c.at) {
		c.bad = true
		return nil
	}
	start := c.at
	c.at += int(n)
	return c.b[start:c.at:c.at]
}

// nullable reads a length and that many bytes; a negative length is null, as for Kafka.
func (c *cursor) nullable() []byte {
	if n := c.varint(); n >= 0 {
		return c.bytes(n)
	}
	return nil
}

func appendVarint(dst []byte, x int32) []byte {
	return appendUnsigned(dst, uint64(uint32(x<<1)^uint32(x>>31)))
}

func appendVarlong(dst []byte, x int64) []byte {
	return appendUnsigned(dst, uint64(x<<1)^uint64(x>>63))
}

func appendUnsigned(dst []byte, x uint64) []byte {
	for ; x >= 0x80; x >>= 7 {
		dst = append(dst, byte(x)|0x80)
	}
	return append(dst, byte(x))
}
