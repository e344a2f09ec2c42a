package partition

// State is how far a replica is on its way from a directory to service, and back.
//
//	Absent ──create──▶ Waiting ──recover──▶ Opening ──▶ Online ──close──▶ Closing ─▶ Closed
//	                     ▲  ▲                  │           │
//	                     │  └─retry            ▼           ▼ (a write or sync failed)
//	                     ├────────────────── Fenced ◀──────┤
//	                     └──────────────── Truncating ◀────┘ (the leader does not have its end)
//	any of them ──delete──▶ Draining ──▶ Deleting ──▶ Gone
type State uint8

const (
	Absent     State = iota // no directory yet; wants Create
	Creating                // a job makes the directory
	Waiting                 // wants Recover
	Recovering              // a job reads and repairs the directory
	Opening                 // the log's files are being opened
	Online                  // serves
	Fenced                  // an effect failed; effects, look-ups and leases are waited for
	Truncating              // the log is to be cut; effects, look-ups and leases are waited for
	Damaged                 // the log is corrupt below its recovery point: the replica steps aside
	Closing                 // a clean close is under way
	Closed                  // complete and durable
	Draining                // to be deleted; effects, look-ups and jobs are waited for
	Deleting                // a job removes the directory
	Gone                    // the directory is removed
)

// String gives the name, for logs.
func (s State) String() string {
	names := [...]string{
		"absent", "creating", "waiting", "recovering", "opening", "online",
		"fenced", "truncating", "damaged", "closing", "closed", "draining", "deleting", "gone",
	}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}
