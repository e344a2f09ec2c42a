package scenarios

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/wire"
	"stet/sim"
)

// fresh is the part of Q9 that does not wait for a client to see it: a controller that says up to where
// the metadata are committed names no less than what any controller, as the active one, had applied when
// it was asked, and may have told. A deposed one that answers without a new proof that it leads says less.
type fresh struct {
	watch *clusterWatch
	known metadata.Index                          // the highest that an active controller has applied
	asked map[sim.Place]map[asking]metadata.Index // what was known when a broker asked
}

// asking is a request of a process.
type asking struct {
	conn env.ConnID
	slot uint64
}

// applied sees the image of an active controller.
func (f *fresh) applied(index metadata.Index) { f.known = max(f.known, index) }

// sent sees the effects of a broker's turn.
func (f *fresh) sent(m *sim.Machine, out *env.Effects) {
	for i := range out.Conn {
		op := &out.Conn[i]
		if op.Op != env.ConnSend || !op.Conn.Link() {
			continue
		}
		h, _, err := wire.ParseHeader(wire.ControllerListener, out.Bytes[op.Head.Start:op.Head.End])
		if err != nil || h.Key != wire.KeyMetadataIndex {
			continue
		}
		if f.asked[m.Place] == nil {
			f.asked[m.Place] = map[asking]metadata.Index{}
		}
		f.asked[m.Place][asking{op.Conn, uint64(op.Slot)}] = f.known
	}
}

// told sees the events of a broker's turn.
func (f *fresh) told(m *sim.Machine, in []env.Event) {
	for i := range in {
		r, ok := in[i].Res.(*wire.MetadataIndexResponse)
		if !ok || in[i].Kind != env.EventResponse || kafka.ErrorCode(r.ErrorCode) != kafka.None {
			continue
		}
		least, asked := f.asked[m.Place][asking{in[i].Conn, uint64(in[i].Slot)}]
		if !asked {
			continue
		}
		f.watch.findings.checked("Q9")
		if metadata.Index(r.Index) < least {
			f.watch.findings.fails("Q9", "%s is told that the metadata are committed to %d, and %d was when it asked",
				m.Place, r.Index, least)
		}
	}
}
