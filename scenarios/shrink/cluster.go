package shrink

import (
	"slices"

	"stet/scenarios/schedule"
	"stet/sim"
)

// fewerMachines lists edits that leave a machine out, or one of its roles, or have it there from the
// start. One machine stays. What faults do to a machine that is not there does not happen, and goes
// with those that were missed.
func fewerMachines(s *schedule.Schedule) (edits []edit) {
	for i := range s.Machines {
		m := &s.Machines[i]
		at := func(s *schedule.Schedule) *schedule.Machine { return &s.Machines[i] }
		if len(s.Machines) > 1 {
			edits = append(edits, func(s *schedule.Schedule) { s.Machines = slices.Delete(s.Machines, i, i+1) })
		}
		if m.Broker && m.Controller {
			edits = append(edits,
				func(s *schedule.Schedule) { at(s).Broker = false },
				func(s *schedule.Schedule) { at(s).Controller, at(s).Founder = false, false })
		}
		edits = set(edits, s, 0, func(s *schedule.Schedule) *sim.Time { return &at(s).Joins })
		edits = set(edits, s, 0, func(s *schedule.Schedule) *int16 { return &at(s).Level })
	}
	return edits
}

// resetMachines lists edits that set the clocks of machines right.
func resetMachines(s *schedule.Schedule) (edits []edit) {
	for i := range s.Machines {
		at := func(s *schedule.Schedule) *schedule.Machine { return &s.Machines[i] }
		edits = set(edits, s, 0, func(s *schedule.Schedule) *sim.Time { return &at(s).Offset })
		edits = set(edits, s, 0, func(s *schedule.Schedule) *sim.Time { return &at(s).BootLeap })
		edits = set(edits, s, 0, func(s *schedule.Schedule) *int64 { return &at(s).Drift })
	}
	return edits
}

func dropOperators(s *schedule.Schedule) []edit {
	return removals(len(s.Operators), func(s *schedule.Schedule) *[]schedule.Operator { return &s.Operators })
}

func dropOperations(s *schedule.Schedule) (edits []edit) {
	for i := range s.Operators {
		edits = append(edits, removals(len(s.Operators[i].Operations),
			func(s *schedule.Schedule) *[]schedule.Operation { return &s.Operators[i].Operations })...)
	}
	return edits
}

// plainOperations lists edits that have operations come at once, ask whom they like, and work on as
// little as can be.
func plainOperations(s *schedule.Schedule) (edits []edit) {
	for i := range s.Operators {
		for j, o := range s.Operators[i].Operations {
			at := func(s *schedule.Schedule) *schedule.Operation { return &s.Operators[i].Operations[j] }
			edits = set(edits, s, 0, func(s *schedule.Schedule) *sim.Time { return &at(s).After })
			edits = set(edits, s, 0, func(s *schedule.Schedule) *int { return &at(s).Via })
			edits = set(edits, s, false, func(s *schedule.Schedule) *bool { return &at(s).ByName })
			if o.Partitions > 1 {
				edits = append(edits, func(s *schedule.Schedule) { at(s).Partitions = 1 })
			}
			if o.Replicas > 1 {
				edits = append(edits, func(s *schedule.Schedule) { at(s).Replicas = 1 })
			}
			if o.Records > 1 {
				edits = append(edits, func(s *schedule.Schedule) { at(s).Records = 1 })
			}
		}
	}
	return edits
}

// idleInstead lists edits that leave an operation out and have the next one come as much later: some
// matter only because they pass the time.
func idleInstead(s *schedule.Schedule) (edits []edit) {
	for i := range s.Operators {
		for j := range len(s.Operators[i].Operations) - 1 {
			edits = append(edits, func(s *schedule.Schedule) {
				list := &s.Operators[i].Operations
				(*list)[j+1].After += (*list)[j].After + 100*sim.Millisecond
				*list = slices.Delete(*list, j, j+1)
			})
		}
	}
	return edits
}
