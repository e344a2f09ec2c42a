package scenarios

import (
	"stet/core/env"
	"stet/scenarios/schedule"
	"stet/sim"
)

// score is the director that has every fault written down in a schedule.
type score struct {
	*saboteur
	faults   []schedule.Fault
	happened []bool // by fault
	current  int    // the power loss that comes or has come last
	requests map[schedule.Request][]int
	calls    map[schedule.Call]int
	frames   map[schedule.Frame]int
	moments  map[schedule.Moment][]int
}

func newScore(s *saboteur, faults []schedule.Fault) *score {
	c := &score{
		saboteur: s, faults: faults, happened: make([]bool, len(faults)),
		requests: map[schedule.Request][]int{}, calls: map[schedule.Call]int{},
		frames: map[schedule.Frame]int{}, moments: map[schedule.Moment][]int{},
	}
	for i := range faults {
		switch at := &faults[i].At; {
		case at.Request != nil:
			c.requests[*at.Request] = append(c.requests[*at.Request], i)
		case at.Call != nil:
			c.calls[*at.Call] = i
		case at.Frame != nil:
			c.frames[*at.Frame] = i
		case at.Since != "":
			c.moments[at.Since] = append(c.moments[at.Since], i)
		}
	}
	return c
}

// requested implements director.
func (c *score) requested(r schedule.Request) { c.later(c.requests[r]) }

// began implements director.
func (c *score) began(m schedule.Moment) { c.later(c.moments[m]) }

// later has faults come that are told from this moment.
func (c *score) later(faults []int) {
	for _, i := range faults {
		f := c.faults[i]
		f.Do.Remains = sim.Remains{} // noted as it happens
		c.after(f.At.Delay, func() { c.happened[i] = c.performing(i, f) })
	}
}

func (c *score) performing(i int, f schedule.Fault) bool {
	c.current = i
	return c.perform(f)
}

// called implements director.
func (c *score) called(op sim.DiskOp) *schedule.Action {
	if op.Path != (env.Path{Name: op.Path.Name}) {
		return nil
	}
	i, ok := c.calls[schedule.Call{
		Place: op.Place, Kind: op.Kind, Ordinal: op.Ordinal, Path: op.Path.Name,
	}]
	return c.take(i, ok)
}

// sent implements director.
func (c *score) sent(f sim.FrameInfo) *schedule.Action {
	i, ok := c.frames[schedule.Frame{
		From: f.From, To: f.To, Response: !f.Request, Key: f.Key, Ordinal: f.Ordinal,
	}]
	return c.take(i, ok)
}

func (c *score) take(i int, ok bool) *schedule.Action {
	if !ok {
		return nil
	}
	c.happened[i] = true
	a := c.faults[i].Do
	a.Remains = sim.Remains{}
	if a.Verb == schedule.Power {
		c.current = i
	}
	return &a
}

// started implements director.
func (c *score) started(sim.Place) {}

// fates implements director.
func (c *score) fates() sim.PowerFates { return c.faults[c.current].Do.Remains.Fates() }

// missed lists the faults whose moment never came, or found nothing to hit.
func (c *score) missed() (lines []string) {
	for i, yes := range c.happened {
		if !yes {
			lines = append(lines, c.faults[i].String())
		}
	}
	return lines
}
