// Package scenarios is where the simulator and the judges meet. A scenario is workload x faults x
// checks, as data drawn from a seed; a run of it gives a Result; a campaign runs many seeds in
// worker processes.
package scenarios
