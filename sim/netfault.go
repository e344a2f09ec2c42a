package sim

// FrameInfo describes a frame as a plan of faults sees it when its sender hands it over.
type FrameInfo struct {
	From, To Place
	Conn     uint64 // counts the connections of the run, from 1
	Request  bool   // from the side that dialled; otherwise a response
	Key      int16  // the request's API key, of a response its request's; -1 if unknown
	Version  int16
	Bytes    int64
	Ordinal  int // the how-manieth frame with this From, To, Request and Key, from 1
}

// NetFaultKind says what goes wrong with a frame.
type NetFaultKind uint8

const (
	// NetFine is the zero value: nothing goes wrong.
	NetFine NetFaultKind = iota
	// NetHold holds the frame, and all behind it on its connection, back for Delay.
	NetHold
	// NetReset resets the connection; the frame and all in flight behind it are lost.
	NetReset
	// NetVanish leaves the connection half open: what either side sends from here on is lost, and
	// both learn of it only after a long time.
	NetVanish
	netFaultCount
)

var netFaultNames = [netFaultCount]string{"", "hold back", "reset", "half open"}

// String gives the name under which the FaultLog counts the fault.
func (k NetFaultKind) String() string { return netFaultNames[k] }

// NetFault is the verdict of a plan on one frame.
type NetFault struct {
	Kind  NetFaultKind
	Delay Time
}

// NetFaults decides what goes wrong. It is asked once for each frame, in the order of sending, and
// must be deterministic.
type NetFaults interface {
	Decide(f FrameInfo) NetFault
}

// NoNetFaults is the plan of a healthy network.
type NoNetFaults struct{}

// Decide implements NetFaults.
func (NoNetFaults) Decide(FrameInfo) NetFault { return NetFault{} }
