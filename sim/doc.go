// Package sim is the simulated world: the same node assembly that serves real clients, run from a
// seed in one thread, with a clock that jumps from event to event.
//
// A Scheduler holds every event in one total order of time and sequence. Straight-line code (jobs,
// file queues, senders) runs in coroutines that give way at every disk and network call, so a
// crash can land between any two. Disk models a page cache over a medium that loses, tears and
// keeps what was not synced; Network carries whole frames in order or lets the connection die;
// Clock drifts and steps; Entropy hands every consumer a stream of its own. Trace chains a hash
// over all that happens: one seed, one hash, in every process and on every architecture.
//
// Nothing here decides at random what a fault plan can decide instead, and every fault that was
// injected is recorded by its meaning, not by its place in a stream of random numbers.
//
// There are no goroutines but the coroutines of iter.Pull, no clock, no range over a map, and no
// floats. Two things are global to the process, because libraries read them there: the source
// behind crypto/rand (see SeatRandom) and coverage marks. So a process runs one World at a time.
package sim
