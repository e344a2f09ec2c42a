package client

import "stet/core/kafka"

// fetchSession is the client's half of a fetch session (KIP-227): after the first full fetch only
// partitions whose position has changed are named.
type fetchSession struct {
	on    bool
	id    int32
	epoch int32
	told  []kafka.Offset // by partition; what the broker has been told
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
func (s *fetchSession) wants(i int, at kafka.Offset) bool {
	if !s.on {
		return true
	}
	for len(s.told) <= i {
		s.told = append(s.told, kafka.NoOffset)
	}
	changed := s.told[i] != at
	s.told[i] = at
	return changed
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
