package sim

import (
	"stet/core/env"
)

// DiskOpKind names a call of a disk.
type DiskOpKind uint8

const (
	DiskOpen DiskOpKind = iota // of a file that exists
	DiskCreate
	DiskRead
	DiskWrite
	DiskSync
	DiskTruncate
	DiskRename
	DiskRemove
	DiskMkdir
	DiskList
	DiskSyncDir
	diskOpCount
)

var diskOpNames = [diskOpCount]string{
	"open", "create", "read", "write", "sync", "truncate", "rename", "remove", "mkdir", "list",
	"sync directory",
}

// String gives the name that faults and traces use.
func (k DiskOpKind) String() string { return diskOpNames[k] }

// DiskOp is a call as a plan of faults sees it, before it takes its time.
type DiskOp struct {
	Place    Place
	Path     env.Path // of a rename: the old name
	Kind     DiskOpKind
	Ordinal  int // the how-manieth call of this kind on this path, from 1, across restarts
	Off, Len int64
}

// DiskFaultKind says what goes wrong with a call.
type DiskFaultKind uint8

const (
	// DiskFine is the zero value: nothing goes wrong.
	DiskFine DiskFaultKind = iota
	// DiskEIO fails the call. A write has stored Bytes of its bytes; a sync has lost what it did
	// not write, though reads see it until it is evicted, and the next sync succeeds.
	DiskEIO
	// DiskShort has a write store only Bytes of its bytes, and say so.
	DiskShort
	// DiskFull fails a write, create or mkdir with ENOSPC; a write of more than nothing that
	// stores Bytes > 0 reports a short count instead, as Linux does.
	DiskFull
	// DiskSlow adds Delay.
	DiskSlow
	// DiskKillDuring kills the process while the call is in flight.
	DiskKillDuring
	// DiskPowerDuring cuts the power while the call is in flight.
	DiskPowerDuring
	// DiskFlip inverts a bit of what a write has stored, for good: bit Bytes%8 of byte Bytes/8.
	DiskFlip
	// DiskLatent makes the sector of byte Bytes of a write unreadable until it is written again.
	DiskLatent
	// DiskMisdirect stores a write Bytes bytes away from where it belongs.
	DiskMisdirect
	diskFaultCount
)

var diskFaultNames = [diskFaultCount]string{
	"", "eio", "short write", "disk full", "slow", "kill during", "power loss during", "bit flip",
	"latent sector error", "misdirected write",
}

// String gives the name under which the FaultLog counts the fault.
func (k DiskFaultKind) String() string { return diskFaultNames[k] }

// DiskFault is the verdict of a plan on one call.
type DiskFault struct {
	Kind  DiskFaultKind
	Bytes int64
	Delay Time
}

// DiskFaults decides what goes wrong. It is asked once for each call, in the order of the calls,
// and must be deterministic.
type DiskFaults interface {
	Decide(op DiskOp) DiskFault
}

// NoDiskFaults is the plan of a healthy disk.
type NoDiskFaults struct{}

// Decide implements DiskFaults.
func (NoDiskFaults) Decide(DiskOp) DiskFault { return DiskFault{} }

// opKey counts ordinals.
type opKey struct {
	path env.Path
	kind DiskOpKind
}

// ordinal returns the next ordinal of a kind of call on a path.
func (d *Disk) ordinal(p env.Path, k DiskOpKind) int {
	key := opKey{p, k}
	d.ordinals[key]++
	return d.ordinals[key]
}

// judge asks the plan about a call and records what it decided.
func (d *Disk) judge(op DiskOp) DiskFault {
	f := d.Plan.Decide(op)
	if f.Kind != DiskFine {
		d.faults.Add(Fault{
			At: d.scheduler.Now(), Place: d.place, What: f.Kind.String(), Target: op.Path.Name,
			Op: op.Kind.String(), Ordinal: op.Ordinal, Detail: f.detail(),
		})
	}
	return f
}

func (f DiskFault) detail() string {
	switch f.Kind {
	case DiskSlow:
		return f.Delay.String()
	case DiskFlip, DiskLatent, DiskMisdirect, DiskShort:
		return itoa(f.Bytes) + " bytes"
	}
	return ""
}
