package linearizability

import (
	"cmp"
	"slices"

	"stet/core/kafka"
)

// sweep looks for offsets that fall: an answer that is lower than one that had returned before it
// was invoked. A loss lowers what must still be there.
type sweep struct {
	lives  *lives
	told   []told
	judged int64 // answers with something to compare with
}

// told is an offset that somebody was told within [call, ret]. Only those that are judged must not
// fall; the others raise the floor.
type told struct {
	call, ret Step
	offset    kafka.Offset
	where     source
	judged    bool
}

// fallen is an offset that is lower than one that was told before.
type fallen struct {
	floor, got     kafka.Offset
	earlier, later source
}

func newSweep(p *partitionView) sweep { return sweep{lives: &p.lives} }

func (s *sweep) add(call, ret Step, offset kafka.Offset, where source, judged bool) {
	s.told = append(s.told, told{call, ret, offset, where, judged})
}

// moment is what happens at a step of the sweep. At one step a loss comes first, then invocations,
// then returns: operations that share a step are concurrent.
type moment struct {
	step Step
	kind momentKind
	at   int
}

type momentKind uint8

const (
	lossMoment momentKind = iota
	callMoment
	returnMoment
)

func (s *sweep) moments() []moment {
	var all []moment
	for i, e := range s.lives.excuses {
		all = append(all, moment{e.Step, lossMoment, i})
	}
	for i, t := range s.told {
		all = append(all, moment{t.ret, returnMoment, i})
		if t.judged {
			all = append(all, moment{t.call, callMoment, i})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.kind, b.kind))
	})
	return all
}

func (s *sweep) run(bad func(fallen)) {
	floor, holder := kafka.NoOffset, source{}
	for _, m := range s.moments() {
		switch m.kind {
		case lossMoment:
			floor = min(floor, s.lives.excuses[m.at].From)
		case callMoment:
			t := s.told[m.at]
			if floor < 0 {
				continue
			}
			s.judged++
			// A loss while the query is open may or may not show in its answer.
			if least := s.lives.clamp(floor, t.call, t.ret); t.offset < least {
				bad(fallen{least, t.offset, holder, t.where})
			}
		case returnMoment:
			t := s.told[m.at]
			if end := s.lives.clamp(t.offset, t.call, t.ret); end > floor {
				floor, holder = end, t.where
			}
		}
	}
}
