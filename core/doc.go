// Package core is the deterministic broker: every room below it takes events and gives effects.
//
// Nothing in core does I/O, reads a clock, draws randomness of its own, starts a goroutine, or
// touches a channel; the order of a map never reaches a decision. So a run is a function of the
// events that it was told, and a seed or a recording replays it exactly. The package itself is
// empty. Its tests hold the rules: TestCoreIsPure type-checks every package of core by object, and
// TestImportsFollowTheLattice checks the arrows between the rooms of the whole module.
package core
