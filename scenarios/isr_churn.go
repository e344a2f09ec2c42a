package scenarios

import (
	"time"

	"stet/core/wire"
	"stet/scenarios/schedule"
	"stet/sim"
)

// isrChurn has followers fall behind and catch up all the time: slow disks, pauses, fetches or changes
// of the ISR that are held back for long, with little patience for who is behind, and leaders that die
// in the middle of it.
func isrChurn() *Scenario {
	return &Scenario{
		Name:        "isr-churn",
		Description: "followers fall behind and catch up, while changes of the ISR are held back",
		Floors: Floors{
			InFlightPercent: inFlightPercent,
			Antecedents:     replicationAntecedents("replicas.isr_shrinks", "replicas.isr_expansions"),
		},
		replication: func(d draw, p *replicationPlan) {
			p.topic(d, 2)
			p.Node.Broker.Replica.LagTime = pick(d, time.Duration(200), 300, 600) * time.Millisecond
			p.nuisances(d, int(d.Between(3, 8)), schedule.Pause, schedule.SlowDisk, schedule.Reset)
			p.partitions(d, d.Index(3), d.Chance(1, 2), followerOne, leaderOne)
			p.deaths(d, d.Index(6), schedule.Kill, schedule.Stop)
			p.faults.net = netRates{
				reset: pick(d, uint64(0), 100, 600), hold: pick(d, uint64(100), 400, 1500),
				holdFor: sim.Interval{Low: sim.Millisecond, High: pick(d, sim.Time(300), 3000) * sim.Millisecond},
				only:    pick(d, wire.KeyAlterPartition, wire.KeyAlterPartition, wire.KeyFetch, wire.KeyFetch, -1),
			}
			if n := &p.faults.net; n.only < 0 { // a quorum that hears nothing in time elects nobody, and nothing is tried
				n.reset, n.hold = n.reset/20, min(n.hold, 100)
			}
		},
	}
}
