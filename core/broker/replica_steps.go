package broker

import (
	"stet/core/partition"
)

// enqueue asks for a job slot, once the replica owns its directory name.
func (h *host) enqueue(r *hosted) {
	if !r.queued && !r.working && h.begins(r) &&
		(r.State() == partition.Absent || r.State() == partition.Waiting) {
		r.queued = true
		h.queue = append(h.queue, r)
	}
}

// fill looks again at everything that waits; called when a data directory has become usable.
func (h *host) fill(b *Broker) {
	for _, r := range h.all {
		if h.find(r.TopicID, r.Partition) == r && r.again.place == 0 {
			h.enqueue(r)
		}
	}
}

// pump starts as many creations and recoveries as may run at once.
func (h *host) pump(b *Broker) {
	for len(h.queue) > 0 && h.working < max(1, b.config.RecoveryJobs) && b.phase == phaseRunning {
		r := h.queue[0]
		h.queue = h.queue[1:]
		r.queued = false
		if b.directories[r.Handles().Dir()].meta.ClusterID == "" {
			continue // fill comes back to it when the directory is formatted
		}
		if r.State() == partition.Absent || r.State() == partition.Waiting {
			r.working = true
			h.working++
			r.advance(b)
		}
	}
}

// advance starts the job that the replica wants next.
func (r *hosted) advance(b *Broker) {
	switch r.State() {
	case partition.Absent:
		r.Create(b.out)
	case partition.Waiting:
		r.Recover(b.expiry.Advance(b.now), b.out)
	}
}

// afterReplica does what a replica's new state asks for. Call it after every call of a replica
// that takes an Effects.
func (b *Broker) afterReplica(r *hosted) {
	b.outcomes = r.Outcomes(b.outcomes[:0])
	for i := range b.outcomes {
		b.produces.finish(b, &b.outcomes[i])
	}
	b.lookups = r.Lookups(b.lookups[:0])
	for i := range b.lookups {
		b.offsetFound(&b.lookups[i])
	}
	r.step(b)
	r.moved(b)
	b.alter.take(b, r)
	if r.TakeChanged() {
		for _, p := range r.watchers {
			b.fetches.changed(p)
		}
	}
}

// step moves the replica on its way into or out of service.
func (r *hosted) step(b *Broker) {
	switch r.State() {
	case partition.Absent, partition.Waiting:
		r.stepWaiting(b)
	case partition.Online:
		b.host.release(r)
		r.pause = firstPause
		b.host.settle(b, r)
		if b.phase == phaseStopping {
			r.Close(b.out)
		}
	case partition.Damaged:
		b.host.release(r)
		b.host.settle(b, r)
	case partition.Fenced:
		b.host.release(r)
		b.noteDamage(r.Handles().Dir())
	case partition.Draining:
		b.host.release(r)
		r.retryLater(b)
	case partition.Gone:
		b.host.release(r)
		b.host.settle(b, r)
		b.host.passOn(r)
	}
}

// stepWaiting goes on with a replica whose job is done, or that was fenced and let go of its log.
func (r *hosted) stepWaiting(b *Broker) {
	switch {
	case b.phase != phaseRunning:
		b.host.release(r)
	case r.Err() != nil:
		b.host.release(r)
		b.host.settle(b, r)                 // nobody waits longer for a disk that fails
		if r.State() == partition.Waiting { // not for a directory that can not be made
			b.noteDamage(r.Handles().Dir())
		}
		r.retryLater(b)
	case r.working:
		r.advance(b) // created: recover with the same slot
	case b.host.find(r.TopicID, r.Partition) == r && r.again.place == 0:
		b.host.enqueue(r)
	}
}

// retryLater tries a failed job again after a pause that grows.
func (r *hosted) retryLater(b *Broker) {
	if r.Err() == nil || r.again.place != 0 {
		return
	}
	b.timers.set(&r.again, b.now.Mono.Add(r.pause), r)
	r.pause = min(2*r.pause, mostPause)
}

// due tries a failed job again.
func (r *hosted) due(b *Broker) {
	if r.State() == partition.Draining {
		r.Retry(b.out)
		b.afterReplica(r)
		return
	}
	b.host.enqueue(r)
}

// release gives back a replica's job slot.
func (h *host) release(r *hosted) {
	if r.working {
		r.working = false
		h.working--
	}
}

// settle counts a replica that has arrived, once.
func (h *host) settle(b *Broker, r *hosted) {
	if r.settled {
		return
	}
	r.settled = true
	h.unsettled--
	h.loaded(b, r)
	b.creates.imageChanged()
}

// loaded is told that a replica that was found at the start is in service, will not be soon, or is not
// wanted any more.
func (h *host) loaded(b *Broker, r *hosted) {
	if !r.loading {
		return
	}
	r.loading = false
	h.loading--
	b.register.fit(b)
}

// passOn gives the directory name of a replica that is gone to the next in line.
func (h *host) passOn(r *hosted) {
	path := r.Path()
	if h.occupants[path] != r {
		return
	}
	delete(h.occupants, path)
	if r.next != nil {
		h.occupants[path] = r.next
		h.enqueue(r.next)
		r.next = nil
	}
}
