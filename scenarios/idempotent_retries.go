package scenarios

import (
	"stet/core/kafka"
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
			Antecedents: antecedents("faults.torn_tails"),
			Rare:        []string{"checked.H4", "client.code.OUT_OF_ORDER_SEQUENCE_NUMBER"},
		},
		adapt: func(d draw, p *plan) {
			p.producers = p.producers[:0]
			for range d.Between(2, 4) {
				c := p.producer(d)
				c.Acks, c.Idempotent, c.InFlight = -1, true, 5
				c.GiveUp = 100 * sim.Second
				if c.FirstSequence = 0; d.Chance(1, 2) {
					c.FirstSequence = kafka.Sequence(1<<31 - 1 - d.Between(0, 60))
				}
				p.producers = append(p.producers, c)
			}
			p.enough(d)
			p.impatience = sim.Interval{Low: 5 * sim.Millisecond, High: pick(d, sim.Time(40), 150, 600) * sim.Millisecond}
			p.faults.network(d)
			p.faults.net.hold = pick(d, uint64(80), 250, 500)
			p.faults.others(d, d.Index(5), p.sends())
			killed := func() sim.Cause { return sim.Killed }
			p.faults.crashes(d, d.Index(3), p.sends(), killed)
		},
	}
}
