// Package metadata judges what clients saw of the metadata of a cluster (Q9): topics that are created,
// grown, configured and deleted, and settings of brokers. Every resource is a state machine of its own,
// and each must be linearizable.
//
// A history has one operation for every request that left, so that a try whose answer was lost is an
// operation of unknown outcome, and its retry is another. Whatever changes something carries a value
// that no other operation has. So the committed log, which has the changes in their order, says what
// became of the unknown ones before anything is judged (A4 of checks.md); what the log decides is
// judged twice, in linear time along the log's order and by Porcupine, which is not told that order.
package metadata
