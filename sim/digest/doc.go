// Package digest turns state into a canonical 128-bit number, so that two runs of one seed can be
// compared event by event.
//
// Hash is the running hash. Of walks any value by reflection, unexported fields included: a field
// that somebody adds tomorrow is covered without a line of code, and FlipEachField proves it. What
// a state must not depend on is left out: function values, channels, pools, the capacity of
// slices, addresses, and fields tagged `digest:"-"`.
package digest
