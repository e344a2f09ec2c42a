package sim

import "stet/core/invariant"

// Owner is one life of something that can die: the incarnation of a node's process, a client.
// Events and tasks belong to an owner and never run once it is dead. Owner 0 is the world itself,
// which does not die.
type Owner int32

// Cause says how an owner died.
type Cause uint8

const (
	Killed    Cause = iota + 1 // the process: the kernel lives on and keeps what it was given
	PowerLost                  // the machine, and with it all that was not on the medium
	Retired                    // the run is over
)

// String names the cause for traces.
func (c Cause) String() string {
	switch c {
	case Killed:
		return "process kill"
	case PowerLost:
		return "power loss"
	case Retired:
		return "end of run"
	}
	return "alive"
}

// ownerState is what the scheduler knows of an owner.
type ownerState struct {
	place   Place
	dead    Cause
	paused  Time          // none of its events runs before
	tasks   []*Task       // alive, in the order of their start
	atDeath []func(Cause) // in the order of registration
}

// NewOwner begins a life at a place.
func (s *Scheduler) NewOwner(p Place) Owner {
	s.owners = append(s.owners, &ownerState{place: p})
	return Owner(len(s.owners) - 1)
}

// Alive says whether o lives.
func (s *Scheduler) Alive(o Owner) bool { return s.owners[o].dead == 0 }

// PlaceOf returns where o lives or lived.
func (s *Scheduler) PlaceOf(o Owner) Place { return s.owners[o].place }

// AtDeath has f called when o dies, before its tasks are unwound, in the order of the calls. The
// disk and the network settle there what was in flight.
func (s *Scheduler) AtDeath(o Owner, f func(Cause)) {
	s.owners[o].atDeath = append(s.owners[o].atDeath, f)
}

// Kill ends o at this point: none of its events and tasks runs again. A suspended task is unwound
// now; a task that calls Kill on its own owner is unwound at its next call that waits. Killing a
// dead owner does nothing.
func (s *Scheduler) Kill(o Owner, cause Cause) {
	invariant.Always(o != 0, "the world itself does not die")
	state := s.owners[o]
	if state.dead != 0 {
		return
	}
	state.dead = cause
	for _, f := range state.atDeath {
		f(cause)
	}
	state.atDeath = nil
	for _, t := range append([]*Task(nil), state.tasks...) {
		t.kill()
	}
}

// Pause holds every event and task of o back until t: a process that is stopped and later goes on
// without noticing. Its calls in flight have their effect when it goes on.
func (s *Scheduler) Pause(o Owner, t Time) { s.owners[o].paused = max(s.owners[o].paused, t) }
