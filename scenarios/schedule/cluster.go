package schedule

import "stet/sim"

// Machine is a machine of a cluster. One that is left out leaves its place empty.
type Machine struct {
	ID int // of the node: its place is n<ID>
	MachineSettings
}

// MachineSettings is what differs from machine to machine.
type MachineSettings struct {
	Broker, Controller bool     // the roles of its node
	Founder            bool     // stands in the list of controllers from the start
	Joins              sim.Time // it is started that long after the work has begun; 0 for the start
	Level              int16    // the highest feature level of its first software; 0 for that of this build
	// Of its clocks, as in World.
	Offset, BootLeap sim.Time
	Drift            int64
}

// Place is where a machine stands.
func (m *Machine) Place() sim.Place { return sim.Place(m.ID) }

// Operator is a client that administers a cluster, and writes and reads a little: it does one thing
// after the other.
type Operator struct {
	ID         int // of the client: its place is c<ID>
	Operations []Operation
}

// Operation is one thing that an operator does.
type Operation struct {
	// Number names the operation among those of its operator: it stays when others are removed.
	Number int
	After  sim.Time // from the end of the one before, at least
	Kind   OperationKind
	OperationSettings
}

// OperationKind names what an operation does.
type OperationKind string

// The kinds of operations.
const (
	CreateTopic OperationKind = "create"
	ProbeTopic  OperationKind = "probe" // a creation that is only validated
	DeleteTopic OperationKind = "delete"
	GrowTopic   OperationKind = "grow"
	SetTopic    OperationKind = "set" // a setting of a topic
	GetTopic    OperationKind = "get"
	SetBroker   OperationKind = "set-broker" // a setting of a broker
	GetBroker   OperationKind = "get-broker"
	Write       OperationKind = "write" // records to each partition of a topic
	ReadAll     OperationKind = "read"  // every partition of a topic from its start
	AddVoter    OperationKind = "add-voter"
	RemoveVoter OperationKind = "remove-voter"
	Upgrade     OperationKind = "upgrade" // stops a machine, and starts it with the newest software
	RaiseLevel  OperationKind = "raise-level"
	LowerLevel  OperationKind = "lower-level"
	Identify    OperationKind = "identify" // asks for a producer id
)

var operationKinds = []OperationKind{
	CreateTopic, ProbeTopic, DeleteTopic, GrowTopic, SetTopic, GetTopic, SetBroker, GetBroker, Write,
	ReadAll, AddVoter, RemoveVoter, Upgrade, RaiseLevel, LowerLevel, Identify,
}

// OperationSettings are what an operation works on. Those that its kind does not use are zero.
type OperationSettings struct {
	Topic      int   // one of a few names
	ByName     bool  // a deletion that tells the name instead of the id
	Partitions int32 // of CreateTopic and GrowTopic
	Replicas   int16 // of CreateTopic
	Node       int   // the broker, the voter, or the machine
	Level      int16 // of RaiseLevel and LowerLevel: that is asked for
	Records    int   // of Write: to each partition
	Via        int   // the machine that is asked first, 0 for any
}

// MachineAt returns the machine at a place, or nil.
func (s *Schedule) MachineAt(p sim.Place) *Machine {
	for i := range s.Machines {
		if s.Machines[i].Place() == p {
			return &s.Machines[i]
		}
	}
	return nil
}
