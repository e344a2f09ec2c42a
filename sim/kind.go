package sim

// Kind classifies events and records of the trace.
type Kind uint8

const (
	KindTimer  Kind = iota + 1 // a wake-up that somebody asked for
	KindTask                   // a task starts or goes on
	KindTurn                   // a loop runs a turn
	KindOpen                   // a connection opens
	KindFrame                  // bytes of a connection arrive
	KindClosed                 // a connection ends
	KindDisk                   // a disk call has its effect
	KindFault                  // a fault may be injected: see Scheduler.Strike
	KindCrash                  // a node dies
	KindStart                  // a node starts
	KindClient                 // a client does something
	KindDigest                 // a digest of state and cursors
	KindNote                   // anything else worth a line
	kindCount
)

var kindNames = [kindCount]string{
	KindTimer: "timer", KindTask: "task", KindTurn: "turn", KindOpen: "open",
	KindFrame: "frame", KindClosed: "closed", KindDisk: "disk", KindFault: "fault",
	KindCrash: "crash", KindStart: "start", KindClient: "client", KindDigest: "digest",
	KindNote: "note",
}

// String gives the name that traces print.
func (k Kind) String() string { return kindNames[k] }
