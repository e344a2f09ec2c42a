package client

import (
	"slices"

	"stet/core/kafka"
	"stet/sim"
)

// sendState is where a send is on its way.
type sendState uint8

const (
	waiting sendState = iota
	inFlight
	doomed // in flight, and not to be tried again
)

// lane holds a producer's unresolved sends to one partition, in the order of their sequences.
type lane struct {
	queue []*Send
	next  kafka.Sequence
	sent  int // batches that were ever sent, for their ordinals
	// confirmed says that the broker knows this producer id in this partition. Until then one
	// batch is in flight: whatever arrives first counts as the beginning.
	confirmed bool
}

// ready returns the send that may go next, nil if none may.
func (l *lane) ready(now sim.Time, c *ProducerConfig) *Send {
	busy := false
	for _, s := range l.queue {
		if s.state != waiting {
			busy = true
			continue
		}
		switch {
		case s.retryAt > now && c.Idempotent: // its successors may not overtake
			return nil
		case s.retryAt > now:
			continue
		case c.Idempotent && s.Attempts == 0 && l.sent-l.first() >= window:
			return nil
		case busy && c.Idempotent && (!l.confirmed || s.Attempts > 0 && !c.PipelinedRetries):
			return nil
		}
		return s
	}
	return nil
}

// window is how many batches of a producer a broker recognises. A batch that is not resolved must
// not have more than four behind it, resolved or not, or its retry is taken for a gap: the answer
// of a later one may come although an earlier one has timed out.
const window = 5

// first returns the ordinal of the oldest batch that was sent and is not resolved.
func (l *lane) first() int {
	for _, s := range l.queue {
		if s.Attempts > 0 {
			return s.ordinal
		}
	}
	return l.sent
}

// wake returns when a send that waits may go. With idempotence its successors wait with it.
func (l *lane) wake(idempotent bool) sim.Time {
	at := sim.Never
	for _, s := range l.queue {
		if s.state == waiting {
			at = min(at, s.retryAt)
			if idempotent {
				break
			}
		}
	}
	return at
}

// remove takes a resolved send out.
func (l *lane) remove(s *Send) {
	if i := slices.Index(l.queue, s); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
}

// restart prepares the lane for another producer id: sends that were never tried stay, those in
// flight are doomed, and those that wait to be tried again are returned, to be given up.
func (l *lane) restart() (given []*Send) {
	l.next, l.confirmed = 0, false
	keep := l.queue[:0:0]
	for _, s := range l.queue {
		switch {
		case s.state == inFlight:
			s.state = doomed
			keep = append(keep, s)
		case s.state == doomed || s.Attempts == 0:
			keep = append(keep, s)
		default:
			given = append(given, s)
		}
	}
	l.queue = keep
	return given
}
