package shrink

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"stet/scenarios/schedule"
	"stet/sim"
)

// earlierFaults lists edits that have a fault come earlier: at an earlier call of the same kind, in
// the first segment, at an earlier frame. A schedule in which faults come early needs little else.
func earlierFaults(s *schedule.Schedule) (edits []edit) {
	for i := range s.Faults {
		for _, a := range earlier(s.Faults[i].At) {
			edits = append(edits, func(s *schedule.Schedule) { s.Faults[i].At = a })
		}
	}
	return edits
}

// earlier lists anchors that come before a, the earliest first.
func earlier(a schedule.Anchor) (out []schedule.Anchor) {
	switch {
	case a.Call != nil:
		first := firstSegment(a.Call.Path)
		if first != a.Call.Path {
			for _, n := range []int{1, 2, 3, 5, 8, 13, 21, 34, 55} {
				c := *a.Call
				c.Path, c.Ordinal = first, n
				out = append(out, schedule.Anchor{Call: &c})
			}
		}
		for _, n := range below(a.Call.Ordinal) {
			c := *a.Call
			c.Ordinal = n
			out = append(out, schedule.Anchor{Call: &c})
		}
	case a.Frame != nil:
		for _, n := range below(a.Frame.Ordinal) {
			f := *a.Frame
			f.Ordinal = n
			out = append(out, schedule.Anchor{Frame: &f})
		}
	}
	return out
}

// below lists ordinals below n that are worth a try.
func below(n int) (out []int) {
	for _, m := range []int{1, 2, 3, 5, 8, n / 4, n / 2, n * 3 / 4, n - 1} {
		if m >= 1 && m < n && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return out
}

// firstSegment gives the path of the same file of the first segment of its partition.
func firstSegment(name string) string {
	dir, file := path.Split(name)
	base, suffix, ok := strings.Cut(file, ".")
	if !ok || len(base) != 20 || strings.Trim(base, "0123456789") != "" {
		return name
	}
	return dir + fmt.Sprintf("%020d", 0) + "." + suffix
}

// simplerFaults lists edits that make a fault milder or its figures round.
func simplerFaults(s *schedule.Schedule) (edits []edit) {
	for i := range s.Faults {
		f := &s.Faults[i]
		change := func(to func(*schedule.Fault)) {
			edits = append(edits, func(s *schedule.Schedule) { to(&s.Faults[i]) })
		}
		if f.Do.Verb == schedule.Power {
			change(func(f *schedule.Fault) { f.Do.Verb, f.Do.Remains = schedule.Kill, sim.Remains{} })
		}
		if f.Do.Both {
			change(func(f *schedule.Fault) { f.Do.Both = false })
		}
		if f.At.Request != nil && f.At.Request.Try > 1 {
			change(func(f *schedule.Fault) {
				r := *f.At.Request
				r.Try = 1
				f.At.Request = &r
			})
		}
		for _, v := range rounder(f.At.Delay, 0) {
			change(func(f *schedule.Fault) { f.At.Delay = v })
		}
		for _, v := range rounder(f.Do.Down, 10*sim.Millisecond) {
			change(func(f *schedule.Fault) { f.Do.Down = v })
		}
		for _, v := range rounder(f.Do.Span, 10*sim.Millisecond) {
			change(func(f *schedule.Fault) { f.Do.Span = v })
		}
		for _, v := range rounder(f.Do.By, 10*sim.Millisecond) {
			change(func(f *schedule.Fault) { f.Do.By = v })
		}
		for _, v := range []int64{0, 1} {
			if f.Do.Bytes > v {
				change(func(f *schedule.Fault) { f.Do.Bytes = v })
			}
		}
	}
	return edits
}

// rounder lists times that are simpler than t, the simplest first: plain is the simplest, then come
// powers of ten, then t without what is below its leading digit.
func rounder(t, plain sim.Time) (out []sim.Time) {
	if t == 0 || t == plain {
		return nil
	}
	round := []sim.Time{
		plain, sim.Millisecond, 10 * sim.Millisecond, 100 * sim.Millisecond, sim.Second, 10 * sim.Second,
	}
	for _, r := range round {
		if t < 0 && r != plain {
			r = -r
		}
		if r == t {
			return out
		}
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if lead := leading(t); lead != t && !slices.Contains(out, lead) {
		out = append(out, lead)
	}
	return out
}

// leading keeps the first decimal digit of t.
func leading(t sim.Time) sim.Time {
	unit := sim.Time(1)
	for t/unit >= 10 || t/unit <= -10 {
		unit *= 10
	}
	return t / unit * unit
}

// dropRemains lists edits that have a power loss keep less.
func dropRemains(s *schedule.Schedule) (edits []edit) {
	for i := range s.Faults {
		at := func(s *schedule.Schedule) *sim.Remains { return &s.Faults[i].Do.Remains }
		for j := range at(s).Names {
			edits = append(edits, func(s *schedule.Schedule) {
				at(s).Names = slices.Delete(slices.Clone(at(s).Names), j, j+1)
			})
		}
		for j := range at(s).Files {
			edits = append(edits, func(s *schedule.Schedule) {
				at(s).Files = slices.Delete(slices.Clone(at(s).Files), j, j+1)
			})
		}
	}
	return edits
}

// dropPages lists edits that have a power loss keep fewer pages of a file, or whole ones.
func dropPages(s *schedule.Schedule) (edits []edit) {
	for i := range s.Faults {
		for j := range s.Faults[i].Do.Remains.Files {
			pages := func(s *schedule.Schedule) *[]sim.PageKept {
				r := &s.Faults[i].Do.Remains
				r.Files = slices.Clone(r.Files)
				r.Files[j].Pages = slices.Clone(r.Files[j].Pages)
				return &r.Files[j].Pages
			}
			for k, p := range s.Faults[i].Do.Remains.Files[j].Pages {
				edits = append(edits, func(s *schedule.Schedule) {
					l := pages(s)
					*l = slices.Delete(*l, k, k+1)
				})
				if whole := sim.Uniform(sim.SectorNew); p.Fate != whole {
					edits = append(edits, func(s *schedule.Schedule) { (*pages(s))[k].Fate = whole })
				}
			}
		}
	}
	return edits
}
