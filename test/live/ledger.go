package live

import (
	"fmt"
	"maps"
	"slices"
)

// topicID is the id of one life of a topic.
type topicID [16]byte

// heldTopic is a topic as one broker tells of it.
type heldTopic struct {
	name       string
	id         topicID
	partitions int
}

// ledger is what one client knows of the topics whose names are its own: it alone creates and
// deletes them, one request for a name at a time, so what has been answered says what must be
// there. A request without an answer can take effect at any later time, once: nobody asks about
// its name before its effect has been seen. A ledger is not safe for concurrent use.
type ledger struct {
	topics map[string]*ledgerTopic

	created, deleted, unanswered int
}

// ledgerTopic is the standing of one name.
type ledgerTopic struct {
	partitions int
	standing   standing
	id         topicID // of the present life; zero: none, or not known
	dead       map[topicID]bool
}

type standing uint8

const (
	absent   standing = iota // never created, or its deletion was acknowledged or seen
	present                  // its creation was acknowledged or seen
	creating                 // its creation was not answered: it may appear, once
	deleting                 // its deletion was not answered: it may go
)

func newLedger() *ledger { return &ledger{topics: map[string]*ledgerTopic{}} }

// creation notes how a request to create an absent topic ended. The error is an answer that
// contradicts earlier ones.
func (l *ledger) creation(name string, partitions int, acked bool, id topicID) error {
	t := l.topics[name]
	if t == nil {
		t = &ledgerTopic{partitions: partitions, dead: map[topicID]bool{}}
		l.topics[name] = t
	}
	if !acked {
		l.unanswered++
		t.standing = creating
		return nil
	}
	if t.dead[id] || id == (topicID{}) {
		return fmt.Errorf("%s: created with the id %x, of nothing or of a life that was deleted", name, id)
	}
	l.created++
	t.standing, t.id = present, id
	return nil
}

// deletion notes how a request to delete a present topic ended.
func (l *ledger) deletion(name string, acked bool) {
	t := l.topics[name]
	if !acked {
		l.unanswered++
		t.standing = deleting
		return
	}
	l.deleted++
	t.gone()
}

// gone notes the end of a life.
func (t *ledgerTopic) gone() {
	t.dead[t.id] = true
	t.standing, t.id = absent, topicID{}
}

// agree says what is wrong with what every node holds while no creator runs: they have to hold the
// same, no name and no id twice. Effects of unanswered requests may come late, so nodes that differ
// should be asked again.
func agree(nodes [][]heldTopic) error {
	first, err := byName(nodes[0])
	if err != nil {
		return fmt.Errorf("node 1: %w", err)
	}
	for i, held := range nodes[1:] {
		other, err := byName(held)
		if err != nil {
			return fmt.Errorf("node %d: %w", i+2, err)
		}
		if name, differs := difference(first, other); differs {
			return fmt.Errorf("%s: node 1 has %+v, node %d has %+v", name, first[name], i+2, other[name])
		}
	}
	return nil
}

// judge says what is wrong with what the nodes hold and agree upon: every name of the ledgers has to
// stand as they say, and no other name may be there. It notes the effects that are seen of
// unanswered requests.
func judge(ledgers []*ledger, held []heldTopic) error {
	wanted := map[string]*ledgerTopic{}
	for _, l := range ledgers {
		maps.Copy(wanted, l.topics)
	}
	first, err := byName(held)
	if err != nil {
		return err
	}
	for name := range first {
		if wanted[name] == nil {
			return fmt.Errorf("%s: it is there, and nobody created it", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		held, there := first[name]
		if err := wanted[name].settle(name, held, there); err != nil {
			return err
		}
	}
	return nil
}

// settle compares a name's standing with what is there, and notes the effect of what was not
// answered.
func (t *ledgerTopic) settle(name string, held heldTopic, there bool) error {
	switch {
	case !there && t.standing == present:
		return fmt.Errorf("%s: its creation was acknowledged as %x, and it is gone", name, t.id)
	case there && t.standing == absent:
		return fmt.Errorf("%s: its deletion was acknowledged, and it is there as %x", name, held.id)
	case there && t.dead[held.id]:
		return fmt.Errorf("%s: it is there under the id %x of a life that was deleted", name, held.id)
	case there && t.id != (topicID{}) && t.id != held.id:
		return fmt.Errorf("%s: acknowledged as %x, there as %x", name, t.id, held.id)
	case there && held.partitions != t.partitions:
		return fmt.Errorf("%s: %d partitions instead of %d", name, held.partitions, t.partitions)
	case there && t.standing == creating:
		t.standing, t.id = present, held.id
	case !there && t.standing == deleting:
		t.gone()
	}
	return nil
}

// byName indexes topics; a name or an id that comes twice is an error.
func byName(topics []heldTopic) (map[string]heldTopic, error) {
	names, ids := map[string]heldTopic{}, map[topicID]string{}
	for _, t := range topics {
		if _, twice := names[t.name]; twice {
			return nil, fmt.Errorf("%s is there twice", t.name)
		}
		if other, twice := ids[t.id]; twice {
			return nil, fmt.Errorf("%s and %s have the same id %x", t.name, other, t.id)
		}
		names[t.name], ids[t.id] = t, t.name
	}
	return names, nil
}

// difference returns the first name by the alphabet of which two nodes tell differently.
func difference(a, b map[string]heldTopic) (string, bool) {
	var differing []string
	for name, t := range a {
		if other, there := b[name]; !there || other != t {
			differing = append(differing, name)
		}
	}
	for name := range b {
		if _, there := a[name]; !there {
			differing = append(differing, name)
		}
	}
	if len(differing) == 0 {
		return "", false
	}
	return slices.Min(differing), true
}
