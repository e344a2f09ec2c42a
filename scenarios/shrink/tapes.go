package shrink

import (
	"stet/scenarios/schedule"
	"stet/sim"
)

// noTapes has the run go steadily.
func noTapes(s *schedule.Schedule) []edit {
	if len(s.Tapes) == 0 {
		return nil
	}
	return []edit{func(s *schedule.Schedule) { s.Tapes = nil }}
}

func dropTapes(s *schedule.Schedule) []edit {
	return removals(len(s.Tapes), func(s *schedule.Schedule) *[]sim.Tape { return &s.Tapes })
}

// shorterTapes lists edits that cut all tapes to the same length: what is decided after the failure
// has no effect on it.
func shorterTapes(s *schedule.Schedule) (edits []edit) {
	longest := 0
	for _, t := range s.Tapes {
		longest = max(longest, len(t.Values))
	}
	for _, part := range []int{256, 32, 4, 2} {
		if n := longest / part; n > 0 {
			edits = append(edits, func(s *schedule.Schedule) {
				for i := range s.Tapes {
					cut(s, i, n)
				}
			})
		}
	}
	return edits
}

// halfTapes lists edits that leave out the second half of a tape.
func halfTapes(s *schedule.Schedule) (edits []edit) {
	for i, t := range s.Tapes {
		edits = append(edits, func(s *schedule.Schedule) { cut(s, i, len(t.Values)/2) })
	}
	return edits
}

func cut(s *schedule.Schedule, tape, length int) {
	t := &s.Tapes[tape]
	t.Values = t.Values[:min(length, len(t.Values))]
}
