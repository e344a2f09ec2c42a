package story

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/scenarios/schedule"
)

// wire puts frames together again and tells of requests and answers.
type wire struct {
	say    func(weight int, format string, args ...any)
	names  *names
	conns  map[int64]*conn
	topics map[[16]byte]string
}

// conn is one connection.
type conn struct {
	client string
	toNode []byte // bytes that are no whole frame yet
	back   []byte
	asked  map[int32]kmsg.Request // by correlation id
}

func newWire(s *schedule.Schedule, say func(int, string, ...any)) *wire {
	return &wire{
		say: say, names: newNames(s), conns: map[int64]*conn{}, topics: map[[16]byte]string{},
	}
}

// open takes a connection that somebody has opened. What nodes tell each other is left out: most of it
// is not Kafka's protocol, and there is a lot of it.
func (w *wire) open(id int64, client string) {
	if strings.HasPrefix(client, "n") {
		return
	}
	w.conns[id] = &conn{client: client, asked: map[int32]kmsg.Request{}}
}

var errFrame = errors.New("not a frame of Kafka's protocol")

// arrived takes bytes that have arrived at an end of a connection.
func (w *wire) arrived(id int64, at string, b []byte) error {
	c := w.conns[id]
	if c == nil {
		return nil
	}
	buffer, take := &c.back, w.answer
	if strings.HasPrefix(at, "n") {
		buffer, take = &c.toNode, w.request
	}
	*buffer = append(*buffer, b...)
	for len(*buffer) >= 4 {
		size := int(binary.BigEndian.Uint32(*buffer))
		if len(*buffer) < 4+size {
			break
		}
		frame := (*buffer)[4 : 4+size]
		if err := take(c, frame); err != nil {
			return err
		}
		*buffer = (*buffer)[4+size:]
	}
	return nil
}

// request reads a request: key, version, correlation, the client's name, and perhaps tags.
func (w *wire) request(c *conn, frame []byte) error {
	if len(frame) < 10 {
		return errFrame
	}
	key, version := int16(binary.BigEndian.Uint16(frame)), int16(binary.BigEndian.Uint16(frame[2:]))
	correlation := int32(binary.BigEndian.Uint32(frame[4:]))
	name := max(0, int(int16(binary.BigEndian.Uint16(frame[8:]))))
	q := kmsg.RequestForKey(key)
	if q == nil || len(frame) < 10+name {
		return errFrame
	}
	q.SetVersion(version)
	body := frame[10+name:]
	if q.IsFlexible() {
		body = body[1:] // no tags
	}
	if err := q.ReadFrom(body); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	c.asked[correlation] = q
	w.asks(c.client, q)
	return nil
}

// answer reads an answer: correlation, and perhaps tags.
func (w *wire) answer(c *conn, frame []byte) error {
	if len(frame) < 4 {
		return errFrame
	}
	correlation := int32(binary.BigEndian.Uint32(frame))
	q := c.asked[correlation]
	if q == nil {
		return nil // to a request of which not all has arrived
	}
	delete(c.asked, correlation)
	p := q.ResponseKind()
	p.SetVersion(q.GetVersion())
	body := frame[4:]
	if p.IsFlexible() && q.Key() != 18 { // ApiVersions is answered without
		body = body[1:]
	}
	if err := p.ReadFrom(body); err != nil {
		return nil // ApiVersions of a version that is not known is answered as version 0
	}
	w.hears(c.client, q, p)
	return nil
}
