package metadata

import (
	"fmt"

	"stet/core/kafka"
	"stet/linearizability"
)

// Step is a moment of the run: see linearizability.Step.
type Step = linearizability.Step

// Kind says what an operation or a change does.
type Kind uint8

// The kinds of operations. Those up to Set change something, and occur in logs too.
const (
	Create Kind = iota + 1 // a topic with Partitions, and with the setting Key=Value
	Delete                 // the topic ID; any of the name if that is zero
	Grow                   // a topic to Partitions
	Set                    // the setting Key to Value
	Probe                  // a creation that is only validated: does the topic exist
	Read                   // of the setting Key
)

var kindNames = [...]string{Create: "create", Delete: "delete", Grow: "grow", Set: "set", Probe: "probe", Read: "read"}

// String names the kind.
func (k Kind) String() string { return kindNames[k] }

// Changes says whether an operation of the kind changes something.
func (k Kind) Changes() bool { return k <= Set }

// Outcome is what the client was told.
type Outcome uint8

// The outcomes. Unknown: it may take effect at any time from the call on, or never. Refused: it has
// not taken effect, and the answer says nothing of the state.
const (
	Unknown Outcome = iota
	OK
	Exists  // the topic exists
	Missing // no such topic
	Small   // it has that many partitions already
	Refused
)

var outcomeNames = [...]string{"unknown", "ok", "exists", "missing", "small", "refused"}

// String names the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Resource is what has a state of its own: "topic orders", "broker 1".
type Resource struct{ Type, Name string }

// Topic is the type of resources that come and go. All others always are.
const Topic = "topic"

// String gives "topic orders".
func (r Resource) String() string { return r.Type + " " + r.Name }

// Operation is one request of a client.
type Operation struct {
	Client       int
	Call, Return Step // Return is 0 if there was no answer
	Kind         Kind
	Resource     Resource
	ID           kafka.TopicID // that Delete asks for, that Create was answered
	Partitions   int32
	Key, Value   string // Value: what Create and Set write, what Read was answered
	Outcome      Outcome
}

func (o *Operation) String() string {
	return fmt.Sprintf("c%d [%d,%d] %s %s id=%s partitions=%d %s=%s: %s", o.Client, o.Call, o.Return,
		o.Kind, o.Resource, o.ID, o.Partitions, o.Key, o.Value, o.Outcome)
}

// Change is one change of the committed log, in its order.
type Change struct {
	Index      int64 // of the entry; changes of one entry share it
	Step       Step  // when it was first known to be committed; 0 if nobody knows
	Kind       Kind
	Resource   Resource
	ID         kafka.TopicID
	Partitions int32
	Key, Value string
}

func (c *Change) String() string {
	return fmt.Sprintf("entry %d, step %d: %s %s id=%s partitions=%d %s=%s", c.Index, c.Step, c.Kind,
		c.Resource, c.ID, c.Partitions, c.Key, c.Value)
}

// History is everything that clients did, and the committed log from its beginning.
type History struct {
	Operations []Operation
	Changes    []Change
}
