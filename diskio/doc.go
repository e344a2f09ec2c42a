// Package diskio is the production disk: env.Disk and env.File over directories of a Linux file
// system. It keeps no state of its own and decides nothing; errors become env.Errno, and their
// details go to Disk.OnError.
//
// What it relies on: pwritev, fdatasync and fsync of a directory as POSIX and Linux define them.
// A write stores a prefix and says how long it is; a sync covers what was written before it was
// called; a directory entry is durable after the directory's fsync.
package diskio
