// Package crashpoints takes short scripts and crashes them at every single operation of the disk.
//
// A script brings a node to the brink of something delicate (a segment roll, a truncation, a
// checkpoint, a metadata write) and then opens a window. A first run without faults counts the
// operations in the window. Each of them is a crash point, struck in runs of its own at several
// moments (moment.go): before it has any effect, while it is held back and everything else goes on,
// in its middle, with its effect but before the caller hears of it, and just after.
//
// What a dead process leaves is an image. It is tried as it is, which is a process kill, and under
// the legal outcomes of a power loss (outcomes.go): how many changes of each chain of names became
// durable, which size of each file, which of its dirty pages, and whether the last one is torn. All
// of them up to a bound; beyond it, the extremes, every single deviation and pairs of them, and what
// was left out is counted. For a sample of the images the recovery, too, is crashed at each of its
// operations.
//
// A trial (trial.go) starts a node on what is left and judges it: it serves (L9), what was promised
// stands (S1, H1), nothing that was cut comes back (S2), files are sound to their ends (S3, S8), a
// second recovery finds the same (S4), retries are recognised and numbers go on (P4), topics stand
// or are gone as was acknowledged (Q9), and no producer id is given twice.
package crashpoints
