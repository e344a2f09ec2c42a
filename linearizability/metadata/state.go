package metadata

import (
	"strings"

	"stet/core/kafka"
)

// state is that of a resource. It is comparable.
type state struct {
	exists     bool
	id         kafka.TopicID
	partitions int32
	settings   string // "key=value;" in the order in which keys were first set
}

func initial(r Resource) state { return state{exists: r.Type != Topic} }

// allows says whether an operation with its outcome can take place in a state. One of unknown
// outcome is asked as if it had taken effect.
func (s state) allows(o *Operation) bool {
	switch o.Outcome {
	case Exists:
		return s.exists
	case Missing:
		return !s.exists || o.Kind == Delete && o.ID != kafka.TopicID{} && o.ID != s.id
	case Small:
		return s.exists && s.partitions >= o.Partitions
	case Refused:
		return true
	}
	switch o.Kind {
	case Create, Probe:
		return !s.exists
	case Delete, Set:
		return s.is(o.ID)
	case Grow:
		return s.is(o.ID) && s.partitions < o.Partitions
	case Read:
		return s.exists && s.setting(o.Key) == o.Value
	}
	return false
}

// is says whether the resource exists and has an id, if one is given: to a change the log gives that of
// the topic which it was made to.
func (s state) is(id kafka.TopicID) bool {
	return s.exists && (id == kafka.TopicID{} || id == s.id)
}

// effective says whether an operation, resolved, changes the state.
func effective(o *Operation) bool {
	return o.Kind.Changes() && (o.Outcome == OK || o.Outcome == Unknown)
}

// after returns the state after an operation that has taken effect.
func (s state) after(o *Operation) state {
	if !effective(o) {
		return s
	}
	switch o.Kind {
	case Create:
		return state{true, o.ID, o.Partitions, ""}.set(o.Key, o.Value)
	case Delete:
		return state{}
	case Grow:
		s.partitions = o.Partitions
	case Set:
		return s.set(o.Key, o.Value)
	}
	return s
}

func (s state) setting(key string) string {
	for pair := range strings.SplitSeq(s.settings, ";") {
		if k, v, _ := strings.Cut(pair, "="); k == key {
			return v
		}
	}
	return ""
}

func (s state) set(key, value string) state {
	if key == "" {
		return s
	}
	var b strings.Builder
	found := false
	for pair := range strings.SplitSeq(s.settings, ";") {
		k, v, ok := strings.Cut(pair, "=")
		if !ok {
			continue
		}
		if k == key {
			v, found = value, true
		}
		b.WriteString(k + "=" + v + ";")
	}
	if !found {
		b.WriteString(key + "=" + value + ";")
	}
	s.settings = b.String()
	return s
}
