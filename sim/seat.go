package sim

import (
	"crypto/rand"
	"io"
	"strconv"
)

// Seat stands in for crypto/rand's source, which etcd raft reads for its election timeouts and
// offers no other hook for. The source is global to the process: one Seat at a time.
type Seat struct {
	before  io.Reader
	current io.Reader
}

// SeatRandom takes over crypto/rand.Reader until Leave. Until somebody sits down, a read panics:
// a draw outside of the streams would not replay.
func SeatRandom() *Seat {
	if seat, taken := rand.Reader.(*Seat); taken {
		panic("sim: a second world in one process; the first one sits on " + seat.who())
	}
	s := &Seat{before: rand.Reader}
	rand.Reader = s
	return s
}

// Sit makes r the source for what runs now; nil forbids reading.
func (s *Seat) Sit(r io.Reader) { s.current = r }

// Leave gives crypto/rand its own source back.
func (s *Seat) Leave() { rand.Reader = s.before }

// Read implements io.Reader.
func (s *Seat) Read(p []byte) (int, error) {
	if s.current == nil {
		panic("sim: " + strconv.Itoa(len(p)) + " random bytes drawn outside of the streams")
	}
	return s.current.Read(p)
}

func (s *Seat) who() string {
	if stream, ok := s.current.(*Stream); ok {
		return stream.source.name
	}
	return "no stream"
}
