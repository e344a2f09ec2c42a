// Package story tells what happens in a run of a small schedule on a page: what it is, who sent what,
// which faults struck, what the node did, and what the check says.
//
// It reads the trace of the run, which has every frame and every call of the disk, so it knows only
// what happened, and nothing of how the node is built.
package story
