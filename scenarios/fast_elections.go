package scenarios

import (
	"time"

	"stet/core/wire"
	"stet/scenarios/schedule"
	"stet/sim"
)

// fastElections has leaders replaced faster than records come: epochs that have none, tails that
// nobody has acknowledged in several of them, and followers that missed an epoch or two.
func fastElections() *Scenario {
	return &Scenario{
		Name:        "fast-elections",
		Description: "leaders are replaced faster than records come, and leave tails behind",
		Floors: Floors{
			CrashPercent: crashPercent, InFlightPercent: inFlightPercent,
			Antecedents: replicationAntecedents("replicas.truncations"),
			Rare:        []string{"replicas.divergences"},
		},
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 3)
			p.Node.Controller.SessionTimeout = 600 * time.Millisecond
			p.Node.Controller.TickInterval = 20 * time.Millisecond
			p.Node.Broker.HeartbeatInterval = 100 * time.Millisecond
			for range d.Between(2, 4) { // bursts of elections
				at := d.Delay(0, 15*sim.Second)
				for range d.Between(2, 5) {
					s := p.strikeSend(d)
					s.target, s.verb = leaderOne, pick(d, schedule.Kill, schedule.Kill, schedule.Stop, schedule.Pause, schedule.Stall, schedule.Stall)
					s.peer, s.both = everyOther, true // but clients reach it, and leave it a tail
					s.span = d.Delay(600*sim.Millisecond, 3*sim.Second)
					s.crash = crash{cause: sim.Killed, down: d.Delay(sim.Millisecond, pick(d, sim.Time(100), 1500)*sim.Millisecond)}
					if d.Chance(2, 3) {
						s.since, s.operator, s.operation, s.delay = schedule.Work, 0, 0, at
						at += d.Delay(0, pick(d, sim.Time(200), 1500)*sim.Millisecond)
					}
					p.faults.strikes = append(p.faults.strikes, s)
				}
			}
			p.faults.net = netRates{
				hold: pick(d, uint64(0), 200, 1000), only: wire.KeyFetch,
				holdFor: sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(100), 1000) * sim.Millisecond},
			}
		},
	}
}
