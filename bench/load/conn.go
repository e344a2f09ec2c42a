// Package load is a client of the Kafka protocol for measurements and live checks: one connection
// to one broker that leads everything, pre-encoded batches, and reads that count bytes instead of
// parsing records. It costs a small share of what a broker spends, so a broker on one core can be
// saturated from another.
package load

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Conn is one connection. It is not safe for concurrent use, but one goroutine may send while
// another receives.
type Conn struct {
	net         net.Conn
	reader      *bufio.Reader
	correlation int32
	out, in     []byte
}

const dialTimeout = 5 * time.Second

// Dial connects to a broker at host:port.
func Dial(address string) (*Conn, error) {
	c, err := net.DialTimeout("tcp", address, dialTimeout)
	if err != nil {
		return nil, err
	}
	return NewConn(c), nil
}

// NewConn speaks the protocol over a connection that was made elsewhere.
func NewConn(c net.Conn) *Conn { return &Conn{net: c, reader: bufio.NewReaderSize(c, 64<<10)} }

// Close ends the connection.
func (c *Conn) Close() error { return c.net.Close() }

// SetDeadline bounds every later read and write.
func (c *Conn) SetDeadline(t time.Time) error { return c.net.SetDeadline(t) }

// AppendFrame appends req as a frame with its length prefix. The correlation id stands at
// CorrelationAt from the frame's start.
func AppendFrame(dst []byte, req kmsg.Request, correlation int32) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint16(dst, uint16(req.Key()))
	dst = binary.BigEndian.AppendUint16(dst, uint16(req.GetVersion()))
	dst = binary.BigEndian.AppendUint32(dst, uint32(correlation))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(clientID)))
	dst = append(dst, clientID...)
	if req.IsFlexible() {
		dst = append(dst, 0)
	}
	dst = req.AppendTo(dst)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

const (
	clientID = "load"
	// CorrelationAt is the position of the correlation id in a frame.
	CorrelationAt = 8
)

// Send writes a frame as AppendFrame made it.
func (c *Conn) Send(frame []byte) error {
	_, err := c.net.Write(frame)
	return err
}

// Receive reads one response frame: correlation id, then the rest. The bytes are valid until the
// next call.
func (c *Conn) Receive() (correlation int32, body []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(c.reader, head[:]); err != nil {
		return 0, nil, err
	}
	size := int(int32(binary.BigEndian.Uint32(head[:]))) - 4
	if size < 0 || size > 1<<30 {
		return 0, nil, fmt.Errorf("response of %d bytes", size)
	}
	if cap(c.in) < size {
		c.in = make([]byte, size)
	}
	body = c.in[:size]
	_, err = io.ReadFull(c.reader, body)
	return int32(binary.BigEndian.Uint32(head[4:])), body, err
}

// Do sends req at the version set in it and decodes the answer.
func (c *Conn) Do(req kmsg.Request) (kmsg.Response, error) {
	c.correlation++
	c.out = AppendFrame(c.out[:0], req, c.correlation)
	if err := c.Send(c.out); err != nil {
		return nil, err
	}
	correlation, body, err := c.Receive()
	if err != nil {
		return nil, err
	}
	if correlation != c.correlation {
		return nil, fmt.Errorf("answer %d to request %d", correlation, c.correlation)
	}
	resp := req.ResponseKind()
	return resp, Decode(resp, body)
}

// Decode fills resp from the body of a response, after the correlation id.
func Decode(resp kmsg.Response, body []byte) error {
	isAPIVersions := resp.Key() == int16(kmsg.ApiVersions)
	if resp.IsFlexible() && !isAPIVersions {
		if len(body) == 0 || body[0] != 0 {
			return fmt.Errorf("unexpected tags in the header of an answer to key %d", resp.Key())
		}
		body = body[1:]
	}
	return resp.ReadFrom(body)
}
