// Package replication is the acceptance test of replication: small clusters with one story each, in
// which leaders fail and what was acknowledged is read back. Campaigns with random faults are elsewhere.
package replication
