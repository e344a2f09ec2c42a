// Package partition is one replica of a partition: its role, its high watermark, the requests
// that wait for it, and its way from a directory on disk to service and back.
//
// What a replica is comes apart into types: Judge holds client batches against the topic's
// configuration, Replica drives the log through its life (creating, recovering, online, fenced,
// deleting), leader holds what exists only while it leads, and acknowledgements is the queue of
// produce requests that wait for the log or for the high watermark.
//
// A replica knows nothing of connections or requests. Who waits is named by a Ticket, and what
// became of it is reported through Outcomes, which the broker drains in the same turn.
package partition
