package scenarios

import (
	"time"

	"stet/scenarios/schedule"
	"stet/sim"
)

// configureWorld draws how fast the machine and the network are, and how wrong the clock is. Each is
// mostly as in a good data centre, and now and then far from it.
func (p *plan) configureWorld(d draw) {
	p.World = schedule.BaseWorld()
	w := &p.World
	w.Link.Delay = pick(d, w.Link.Delay, w.Link.Delay, micros(1, 50), micros(1000, 20_000))
	w.Link.SpikeOf256 = pick(d, uint64(0), 3, 3, 20)
	w.Link.Spike.High = pick(d, 60*sim.Millisecond, 60*sim.Millisecond, sim.Second)
	w.Link.NanosPerKiB = pick(d, sim.Time(0), 1000, 1000, 100_000)
	w.Disk.Sync = pick(d, w.Disk.Sync, w.Disk.Sync, micros(1, 50), micros(2000, 20_000))
	w.Disk.Write.High = pick(d, w.Disk.Write.High, w.Disk.Write.High, sim.Millisecond)
	w.Disk.WriteBack = pick(d, uint64(0), 24, 24, 200)
	w.Disk.Evict.High = pick(d, w.Disk.Evict.High, w.Disk.Evict.High, 20*sim.Millisecond)
	w.Pace.LateOf256 = pick(d, uint64(0), 2, 2, 16)
	if d.Chance(1, 4) {
		w.Offset = d.Delay(-sim.Minute, sim.Minute)
	}
	w.Drift = pick(d, int64(0), 0, 0, 200, -200, 20_000, -20_000)
	w.BootLeap = pick(d, sim.Time(0), 0, sim.Second, 10*sim.Minute)
}

func micros(low, high sim.Time) sim.Interval {
	return sim.Interval{Low: low * sim.Microsecond, High: high * sim.Microsecond}
}

// configureTimeouts draws those of the node.
func (p *plan) configureTimeouts(d draw) {
	b, c := &p.Node.Broker, &p.Node.Controller
	b.HeartbeatInterval = pick(d, b.HeartbeatInterval, 200*time.Millisecond)
	b.RequestTimeout = pick(d, b.RequestTimeout, 2*time.Second)
	pick(d, 0, 1) // was the session timeout; the draw stays, so that later ones mean what they did
	c.RestartPause = pick(d, c.RestartPause, 20*time.Millisecond)
}

// equip makes a machine that of the schedule.
func (p *plan) equip(m *sim.Machine) {
	w := &p.World
	m.Disk.SetProfile(w.Disk)
	m.Pace, m.BootLeap = w.Pace, w.BootLeap
	if w.Drift != 0 {
		m.Clock.Drift(w.Drift)
	}
	if w.Offset != 0 {
		m.Clock.Step(w.Offset)
	}
}
