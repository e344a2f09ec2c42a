// Package scenarios is where the simulator and the judges meet. A scenario is workload x faults x
// checks, as data drawn from a seed; a run of it gives a Result; a campaign runs many seeds in
// worker processes.
//
// The generator is plan.go (clients and limits), swarm.go (the world and timeouts) and faults.go
// (strikes and rates); each scenario adapts what they draw. Everything is drawn per seed, as ratios of
// integers, so that each seed has its own mix. The improviser makes the faults of a plan happen and
// writes down those that did, with what the world decided meanwhile: that is a schedule (package
// schedule), which the score plays back. A run has two phases: safety under faults, then everything
// is healed, no fault comes any more, and all has to converge within a bound of virtual time.
//
// The knobs that reach rare bugs (canaries.md, B2), for one node: restarts one upon the other, so that
// epochs have no records; one kind of request held back; power loss with a fate for each file and
// name; tiny segments, indexes, metadata snapshots and checkpoint intervals; clocks that step, drift,
// and leap at a boot; crashes during recovery; five requests in flight with impatient retries;
// sequences that begin near overflow; keys from a few, among them those of control records; a topic
// that is deleted and created again. Retention and expiry are not drawn yet: nothing is retained by
// time, and producers expire later than any run ends.
package scenarios
