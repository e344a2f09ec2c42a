package scenarios

import (
	"fmt"
	"strings"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"
	"stet/sim"
)

// sources is the part of Q10 that says where metadata come from: a broker is given them by a
// controller that leads, and by none that only follows the log. What a standby has applied is
// committed too, but a broker that follows it acts on a past that nobody answers for.
type sources struct {
	watch  *clusterWatch
	dialed map[sim.Place]map[env.ConnID]kafka.BrokerID // the controllers that the links of brokers lead to
}

// told sees the events of a broker's turn.
func (s *sources) told(m *sim.Machine, in []env.Event) {
	for i := range in {
		r, ok := in[i].Res.(*wire.MetadataFetchResponse)
		if !ok || in[i].Kind != env.EventResponse || r.ErrorCode != 0 {
			continue
		}
		from, known := s.dialed[m.Place][in[i].Conn]
		if !known {
			continue
		}
		s.watch.findings.checked("Q10")
		if kafka.BrokerID(r.LeaderID) != from {
			s.watch.findings.fails("Q10", "%s is given metadata by controller %d, which says that %d leads", m.Place, from,
				r.LeaderID)
		}
	}
}

// asked sees the effects of a broker's turn.
func (s *sources) asked(m *sim.Machine, out *env.Effects) {
	for i := range out.Conn {
		op := &out.Conn[i]
		if op.Op != env.ConnDial {
			continue
		}
		if s.dialed[m.Place] == nil {
			s.dialed[m.Place] = map[env.ConnID]kafka.BrokerID{}
		}
		s.dialed[m.Place][op.Conn] = nodeAt(string(out.Bytes[op.Head.Start:op.Head.End]), m.Place)
	}
}

// nodeAt is the node of a controller's address, "n2:9093"; without one it is this node's own.
func nodeAt(addr string, own sim.Place) kafka.BrokerID {
	host, _, _ := strings.Cut(addr, ":")
	place := own
	if addr != "" {
		_, _ = fmt.Sscanf(host, "n%d", &place)
	}
	return kafka.BrokerID(place)
}
