package scenarios

import (
	"stet/sim"
)

// idempotentRetries has impatient idempotent producers retry what they have sent.
//
// It draws two to four idempotent producers with five requests in flight and short patience, half
// of them counting from near 2^31, and a network that holds frames back, resets connections and
// forgets them, so that copies of a batch overtake each other on several connections. It adds up to
// two kills, often during the recovery of the first, and tiny segments, so that the windows of
// sequences come out of snapshots.
func idempotentRetries() *Scenario {
	return &Scenario{
		Name:        "idempotent-retries",
		Description: "five in flight, impatient retries on other connections, kills in between",
		Floors: Floors{
			InFlightPercent: inFlightPercent,
			Antecedents:     antecedents("faults.torn_tails"),
			Rare:            []string{"checked.H4", "client.code.OUT_OF_ORDER_SEQUENCE_NUMBER"},
		},
		adapt: func(d draw, p *plan) {
			configs := p.producers(d, 2, 4)
			for i := range configs {
				c := &configs[i]
				c.Acks, c.Idempotent, c.InFlight = -1, true, 5
				c.GiveUp = 100 * sim.Second
				if c.FirstSequence = 0; d.Chance(1, 2) {
					c.FirstSequence = nearOverflow(d)
				}
			}
			p.Clients.Impatience = sim.Interval{Low: 5 * sim.Millisecond, High: pick(d, sim.Time(40), 150, 600) * sim.Millisecond}
			p.workload(d, configs)
			p.network(d)
			p.faults.net.hold = pick(d, uint64(80), 250, 500)
			p.others(d, d.Index(5))
			killed := func() sim.Cause { return sim.Killed }
			p.crashes(d, d.Index(3), killed)
		},
	}
}
