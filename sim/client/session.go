package client

import "stet/core/kafka"

// fetchSession is the client's half of a fetch session (KIP-227): after the first full fetch only
// partitions whose position has changed are named.
type fetchSession struct {
	on    bool
	id    int32
	epoch int32
	told  []told // by partition; what the broker has been told
}

// told is what a broker knows of a partition in a session.
type told struct {
	in    bool
	at    kafka.Offset
	epoch int32 // of the leader
}

// reset has the next fetch be a full one.
func (s *fetchSession) reset() { s.id, s.epoch, s.told = 0, 0, nil }

// head returns what a fetch says of its session, and forgets what a full fetch begins anew.
func (s *fetchSession) head() (id, epoch int32) {
	if !s.on {
		return 0, -1
	}
	if s.epoch == 0 {
		s.told = nil
	}
	return s.id, s.epoch
}

// wants says whether the next fetch has to name a partition.
func (s *fetchSession) wants(i int, at kafka.Offset, epoch int32) bool {
	if !s.on {
		return true
	}
	for len(s.told) <= i {
		s.told = append(s.told, told{})
	}
	now := told{true, at, epoch}
	changed := s.told[i] != now
	s.told[i] = now
	return changed
}

// forgets says whether the next fetch has to take a partition out of the session.
func (s *fetchSession) forgets(i int) bool {
	if !s.on || i >= len(s.told) || !s.told[i].in {
		return false
	}
	s.told[i] = told{}
	return true
}

// answered takes the session id of an answer. It says false for one that can not be.
func (s *fetchSession) answered(id int32) bool {
	switch {
	case !s.on:
		return id == 0
	case s.epoch == 0 && id == 0: // no session was granted
		return true
	case s.epoch == 0:
		s.id = id
	case s.id != id:
		return false
	}
	s.epoch++
	if s.epoch <= 0 {
		s.epoch = 1
	}
	return true
}
