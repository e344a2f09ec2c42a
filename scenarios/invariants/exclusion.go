package invariants

import "stet/core/metadata"

// checkExclusion is R6: a broker that has registered again after its replica was damaged stands in no
// ISR, in no ELR and does not lead until the replica has all that is committed. Nobody but the last
// known leader may be elected without that, when everybody who stood is gone; P1 is spent then.
func (r *Replicas) checkExclusion(x *replicated, m *metadata.Image, p *metadata.Partition) {
	for _, id := range p.Replicas {
		d, b := x.damaged[id], m.Broker(id)
		if d == nil || b == nil || b.Epoch == d.epoch {
			continue
		}
		r.findings.Checked("R6")
		if !stands(p, id) && p.Leader != id {
			continue
		}
		if _, spent := r.spent(x); p.Recovering && spent || p.Leader == id && spent {
			continue
		}
		r.findings.Fails("R6", "%s: entry %d: the replica of broker %d was damaged before its epoch %d, has not caught up, "+
			"and stands: ISR %v, ELR %v, leader %d", r.name(x), m.Index(), id, b.Epoch, p.ISR, p.ELR, p.Leader)
		d.epoch = b.Epoch // once
	}
}
