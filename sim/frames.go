package sim

import (
	"encoding/binary"
	"slices"

	"stet/core/env"
)

// frameScanner follows one direction of a byte stream and finds the heads of its frames. File
// ranges are passed over: a frame's head is always bytes.
type frameScanner struct {
	head []byte // the size prefix and the first eight bytes of the frame under way
	left int64  // of the frame under way, behind head
	lost bool   // the stream made no sense; nothing is found any more
}

// prefixBytes is what a frame is announced by, headBytes what names it: api key, version and
// correlation id of a request.
const (
	prefixBytes = 4
	headBytes   = 8
)

// scan calls found with the size, without prefix, and the first bytes of each frame that begins
// in the parts. The bytes are found's only for the call.
func (s *frameScanner) scan(parts []env.Part, found func(size int64, head []byte)) {
	for _, p := range parts {
		if s.lost {
			return
		}
		if p.File != nil {
			s.pass(p.Len)
			continue
		}
		s.bytes(p.Bytes, found)
	}
}

// pass goes n bytes on inside a frame.
func (s *frameScanner) pass(n int64) {
	s.left -= n
	s.lost = s.lost || s.left < 0
}

func (s *frameScanner) bytes(p []byte, found func(size int64, head []byte)) {
	for len(p) > 0 && !s.lost {
		if s.left > 0 {
			n := min(s.left, int64(len(p)))
			s.left -= n
			p = p[n:]
			continue
		}
		p = s.collect(p, found)
	}
}

// collect gathers the head of the next frame.
func (s *frameScanner) collect(p []byte, found func(size int64, head []byte)) []byte {
	want := prefixBytes
	if len(s.head) >= prefixBytes {
		want += int(min(s.size(), headBytes))
	}
	n := min(want-len(s.head), len(p))
	s.head = append(s.head, p[:n]...)
	if len(s.head) == prefixBytes && want == prefixBytes {
		if s.size() < 0 {
			s.lost = true
		}
		if s.size() != 0 {
			return p[n:]
		}
		want = prefixBytes
	}
	if len(s.head) == want {
		found(s.size(), s.head[prefixBytes:])
		s.left = s.size() - int64(len(s.head)-prefixBytes)
		s.head = s.head[:0]
	}
	return p[n:]
}

func (s *frameScanner) size() int64 {
	return int64(int32(binary.BigEndian.Uint32(s.head)))
}

// sentRequest remembers a request until its response passes.
type sentRequest struct {
	correlation  int32
	key, version int16
}

// answered forgets the request at i, and those before it that get no answer: nodes answer each
// other out of order, but nobody a Produce behind one that came after it.
func (c *conn) answered(i int) {
	before := slices.DeleteFunc(c.requests[:i], func(r sentRequest) bool { return r.key == 0 })
	c.requests = append(before, c.requests[i+1:]...)
}

// describe names a frame of one direction of a connection. Requests are remembered, so that
// responses can be named too.
func (c *conn) describe(fromDialer bool, size int64, head []byte) FrameInfo {
	info := FrameInfo{
		From: c.ends[1].place, To: c.ends[0].place, Conn: c.id, Request: fromDialer, Key: -1,
		Bytes: size,
	}
	if fromDialer {
		info.From, info.To = info.To, info.From
	}
	switch {
	case fromDialer && len(head) >= 8:
		info.Key = int16(binary.BigEndian.Uint16(head))
		info.Version = int16(binary.BigEndian.Uint16(head[2:]))
		c.requests = append(c.requests, sentRequest{
			int32(binary.BigEndian.Uint32(head[4:])), info.Key, info.Version,
		})
	case !fromDialer && len(head) >= 4:
		correlation := int32(binary.BigEndian.Uint32(head))
		for i, r := range c.requests {
			if r.correlation == correlation {
				info.Key, info.Version = r.key, r.version
				c.answered(i)
				break
			}
		}
	}
	return info
}
