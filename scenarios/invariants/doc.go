// Package invariants judges the state of a cluster's nodes while it runs: what must hold between the
// controllers of a quorum, between them and the brokers, and between what they say and what their
// disks have. It looks at every node after every turn, and is the only one that sees them all.
//
// One invariant a file; checks.md has their ids. Ledger is the oracle of most of them: the entries that
// were committed, in the order in which any node was first seen to apply them.
package invariants
