// Package env is the boundary between the deterministic core and a world.
//
// A node is a function of what it has been told: a turn takes events and gives effects, both plain
// data. A world (production or simulation) performs the effects and reports back as events. The
// package is a leaf; it holds the types that cross the boundary, the interfaces that a world
// implements (Disk, File, ConnWriter), and nothing that acts.
//
// The laws of a world, which envtest checks against both:
//
//   - Effects on one file are performed one at a time, in the order the turns emitted them.
//     Effects on one connection likewise, by response slot. Between two files, or a file and a
//     connection, there is no order except through a completion event.
//   - Written is not durable until a sync that was submitted after the write completed returned.
//     A directory entry is durable after its directory's sync. A failed sync may have dropped the
//     pages written since the last good one, and a later good sync proves nothing.
//   - Power loss keeps any subset of the unsynced pages, independent of the file's size. A process
//     kill keeps every completed write and a prefix of a running one.
//   - Connections carry whole frames in order, or die. EventConnClosed is the last event of its
//     connection; the core emits nothing for a connection whose end it was told.
//   - A link is a connection that the core asked for. If it comes to stand, EventConnOpened is its
//     first event. Its end is told exactly once, whether it stood or not; requests under way get no
//     event of their own. A peer that answers what was not asked, or what does not decode, ends it.
package env
