package sim

// DiskRule is one fault told by its meaning: the n-th call of a kind on a path.
type DiskRule struct {
	Place   Place  // 0 for any
	Path    string // in data directory 0
	Kind    DiskOpKind
	Ordinal int // 0 for every
	Fault   DiskFault
}

// DiskRules is a plan that is a list. The first rule that fits decides.
type DiskRules []DiskRule

// Decide implements DiskFaults.
func (rules DiskRules) Decide(op DiskOp) DiskFault {
	for i := range rules {
		r := &rules[i]
		if (r.Place == 0 || r.Place == op.Place) && op.Path.Dir == 0 && r.Path == op.Path.Name &&
			r.Kind == op.Kind && (r.Ordinal == 0 || r.Ordinal == op.Ordinal) {
			return r.Fault
		}
	}
	return DiskFault{}
}

// NetRule is one fault told by its meaning: the n-th request of a key from one place to another,
// or the n-th response to one.
type NetRule struct {
	From, To Place // 0 for any
	Request  bool
	Key      int16
	Ordinal  int // 0 for every
	Fault    NetFault
}

// NetRules is a plan that is a list. The first rule that fits decides.
type NetRules []NetRule

// Decide implements NetFaults.
func (rules NetRules) Decide(f FrameInfo) NetFault {
	for i := range rules {
		r := &rules[i]
		if (r.From == 0 || r.From == f.From) && (r.To == 0 || r.To == f.To) &&
			r.Request == f.Request && r.Key == f.Key && (r.Ordinal == 0 || r.Ordinal == f.Ordinal) {
			return r.Fault
		}
	}
	return NetFault{}
}
