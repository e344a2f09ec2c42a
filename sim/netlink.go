package sim

// LinkProfile is how fast one direction between two places is.
type LinkProfile struct {
	Delay Interval
	// SpikeOf256 of 256 sends take an extra delay from Spike.
	SpikeOf256 uint64
	Spike      Interval
	// NanosPerKiB is the time that a KiB takes beyond the delay: the inverse of the bandwidth.
	NanosPerKiB Time
}

// DefaultLinkProfile is a local network with an occasional hiccup.
func DefaultLinkProfile() LinkProfile {
	return LinkProfile{
		Delay:      Interval{20 * Microsecond, 400 * Microsecond},
		SpikeOf256: 3, Spike: Interval{Millisecond, 60 * Millisecond},
		NanosPerKiB: 1000,
	}
}

// link is the state of one direction between two places.
type link struct {
	profile LinkProfile
	cut     bool // a partition: nothing passes, and it is kept and sent again
	stalled Time // nothing passes before
	stream  *Stream
}

// pair is a direction.
type pair struct{ from, to Place }

func (n *Network) link(from, to Place) *link {
	l := n.links[pair{from, to}]
	if l == nil {
		l = &link{profile: n.profile, stream: n.stream.Sub(from.String() + "->" + to.String())}
		n.links[pair{from, to}] = l
	}
	return l
}

// SetProfile changes one direction.
func (n *Network) SetProfile(from, to Place, p LinkProfile) { n.link(from, to).profile = p }

// SetDefaultProfile changes the profile of every direction that was never used or set.
func (n *Network) SetDefaultProfile(p LinkProfile) { n.profile = p }

// Cut lets nothing pass from one place to another until Heal. What is sent meanwhile is sent
// again afterwards, in order, unless its connection gives up first.
func (n *Network) Cut(from, to Place) {
	n.link(from, to).cut = true
	n.fault("cut", from, to, "")
}

// Partition cuts both directions.
func (n *Network) Partition(a, b Place) {
	n.Cut(a, b)
	n.Cut(b, a)
}

// Heal lets one direction pass again. What waits comes in a burst.
func (n *Network) Heal(from, to Place) {
	n.link(from, to).cut = false
	n.fault("heal", from, to, "")
	n.kick(from, to)
}

// HealAll ends all cuts and stalls.
func (n *Network) HealAll() {
	for _, c := range n.open {
		for side := range c.ends {
			from, to := c.ends[side].place, c.ends[1-side].place
			n.link(from, to).cut, n.link(from, to).stalled = false, 0
		}
	}
	for _, p := range n.directions() {
		n.links[p].cut, n.links[p].stalled = false, 0
		n.kick(p.from, p.to)
	}
	n.fault("heal all", 0, 0, "")
}

// Stall lets nothing pass for d, then everything in a burst.
func (n *Network) Stall(from, to Place, d Time) {
	n.link(from, to).stalled = n.scheduler.later(d)
	n.fault("stall", from, to, d.String())
}

// Blocked says whether a direction is cut.
func (n *Network) Blocked(from, to Place) bool { return n.link(from, to).cut }

func (n *Network) fault(what string, from, to Place, detail string) {
	n.faults.Add(Fault{
		At: n.scheduler.Now(), Place: from, What: what, Target: from.String() + "->" + to.String(),
		Detail: detail,
	})
}

// kick has the connections of a direction deliver what waits.
func (n *Network) kick(from, to Place) {
	for _, c := range n.open {
		for side := range c.ends {
			if c.ends[side].place == from && c.ends[1-side].place == to {
				c.pipes[side].schedule()
			}
		}
	}
}

// transit draws how long a send takes.
func (l *link) transit(bytes int64) Time {
	s := l.stream
	d := s.Delay(l.profile.Delay.Low, l.profile.Delay.High)
	if s.Chance(l.profile.SpikeOf256, 256) {
		d += s.Delay(l.profile.Spike.Low, l.profile.Spike.High)
	}
	return d + l.profile.NanosPerKiB*Time(bytes)/1024
}
