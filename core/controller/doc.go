// Package controller is the loop of a node in its controller role: it keeps the cluster's metadata
// and answers brokers about it.
//
// Like the broker it is a function of what it has been told: Turn consumes events and emits
// effects. Brokers arrive as connections with EventRequest; in a node with both roles the
// connection is a link inside the process. There is one file for each API key.
//
// A request is decided at once, against the image with everything already proposed applied to it.
// The decision's records are proposed to the quorum as one entry, and the answer waits until that
// entry, and everything that the decision has seen, is committed and synced. Requests that arrive
// while a sync is under way share the next one.
//
// Life: start (a job reads the raft directory), lead, serve. A failed write or sync of the raft log
// ends the life: everything that waits is refused with NOT_CONTROLLER, nothing more is answered
// from that log, and after a pause the component starts again by recovery, into files of its own.
// Corruption is not repaired here; Fatal reports it.
package controller
