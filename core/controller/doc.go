// Package controller is the loop of a node in its controller role: it keeps the cluster's metadata
// and answers brokers about it.
//
// Like the broker it is a function of what it has been told: Turn consumes events and emits
// effects. Brokers arrive as connections with EventRequest; in a node with both roles the
// connection is a link inside the process. There is one file for each API key.
//
// A request is decided at once, against the image with everything already proposed applied to it.
// The decision's records are proposed to the quorum as one entry, and the answer waits until that
// entry, and everything that the decision has seen, is committed and synced. An answer that proposes
// nothing waits for a proof, asked for after the decision, that this controller still leads. Requests
// that arrive while a sync is under way share the next one.
//
// Life: start (a job reads the raft directory), belong, serve. A fresh directory comes to a quorum by
// founding one, by taking over the founding of another, or by being added (bootstrap, joining). A
// standby applies the log and answers that it does not lead, and who does. What only the one who leads
// knows (the queue, sessions, changes of members) begins with its term and ends with it. Controllers
// talk over links that they dial to each other (peers); a quorum of one has none, and no clock.
//
// A failed write or sync of the raft log ends the life: everything that waits is refused with
// NOT_CONTROLLER, nothing more is answered from that log, and after a pause the component starts again
// by recovery, into files of its own. What can not be repaired here (corruption, a directory of
// another node or cluster, a log that has forgotten what it acknowledged) Fatal reports.
package controller
