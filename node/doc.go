// Package node is the assembly around the deterministic core, the same in production and in
// simulation: loops with their inboxes, a queue per file, response slots per connection, byte
// budgets, pooled buffers and the links between loops. It is where the law of effects lives as
// code.
//
// Nothing here owns a thread. A world enters through Conn (frames), Loop.Submit (events) and
// Work.Run (what a turn made runnable), and hands every entry a Worker that says how to go on:
// production runs turns and file queues at once on the entering goroutine (flat combining), the
// simulator schedules each of them by its seed.
package node
