package scenarios

import (
	"stet/core/controller"
	"stet/sim"
)

// deposed is the part of L6 that does not wait for the end of faults: a controller that another has
// replaced, in a later term, does not go on acting as the active one. A leader that hears of no
// majority resigns within an election timeout (check-quorum), so it may outlive its successor's
// election by little.
//
// Time counts as the deposed one lives it: what a pause takes, it can not act in.
type deposed struct {
	watch *clusterWatch
	since map[sim.Place]*overlap
}

// overlap is how long a controller has acted beside a newer one.
type overlap struct {
	last sim.Time // its last turn
	sum  sim.Time
}

// turned sees a controller after a turn.
func (d *deposed) turned(m *sim.Machine, c *controller.Controller) {
	if !c.Ready() || !d.replaced(m, c) {
		delete(d.since, m.Place)
		return
	}
	d.watch.findings.checked("L6")
	o := d.since[m.Place]
	if o == nil {
		d.since[m.Place] = &overlap{last: d.watch.world.Scheduler.Now()}
		return
	}
	d.beside(m, c, o)
}

// beside adds the time since the last turn.
func (d *deposed) beside(m *sim.Machine, c *controller.Controller, o *overlap) {
	now := d.watch.world.Scheduler.Now()
	config := &d.watch.plan.Node.Controller
	tick := sim.Time(config.TickInterval)
	o.sum += min(now-o.last, 2*tick)
	o.last = now
	limit := 4*sim.Time(config.Quorum.ElectionTicks)*tick + sim.Second
	if o.sum > limit {
		d.watch.findings.fails("L6", "%s acts as the active controller of term %d, %v after another was elected",
			m.Place, c.Voter().Term(), o.sum)
		o.sum = 0
	}
}

// replaced says whether another controller acts in a later term.
func (d *deposed) replaced(m *sim.Machine, c *controller.Controller) bool {
	for _, other := range d.watch.machines {
		if other == m {
			continue
		}
		o := controllerOf(other)
		if o != nil && o.Ready() && o.Voter() != nil && o.Voter().Term() > c.Voter().Term() {
			return true
		}
	}
	return false
}
