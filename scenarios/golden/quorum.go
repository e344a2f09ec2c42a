package golden

import (
	"fmt"
	"slices"
	"strings"

	"stet/core/controller"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/node"
	"stet/sim"
)

// controllers adds machines that are the controllers of one cluster, and run nothing yet. Brokers that
// were added before are of the same cluster.
func controllers(s *stage, a *args) {
	count := a.number(a.next("a number"))
	session := a.asDuration(a.option("session.timeout", controller.DefaultConfig().SessionTimeout.String()))
	first := len(s.world.Machines) + 1
	for i := range int(count) {
		p := sim.Place(first + i)
		s.voters = append(s.voters, kafka.ControllerAddress{
			Node: kafka.BrokerID(p), Addr: sim.ControllerAddr(p),
		})
	}
	for _, v := range s.voters[len(s.voters)-int(count):] {
		s.addMachine(func(c *node.Config) {
			c.Roles, c.Controller.Controllers = node.Roles{Controller: true}, s.voters
			c.Controller.Advertise = v.Addr
			c.Controller.SessionTimeout = session.Duration()
		})
	}
	for _, m := range s.world.Machines {
		if m.Config.Roles == (node.Roles{Broker: true}) {
			m.Config.Broker.Controllers = s.voters
		}
	}
}

// brokers adds machines that are brokers of the cluster of the controllers, and run nothing yet.
func brokers(s *stage, a *args) {
	count, settings := a.number(a.next("a number")), a.settings()
	for range count {
		s.addMachine(func(c *node.Config) {
			c.Roles, c.Broker.Controllers = node.Roles{Broker: true}, s.voters
			settings(c)
		})
	}
}

// star leaves of all links between controllers those of one with some others, so that nobody but
// this one can reach more than one other.
func star(s *stage, a *args) {
	center, others := s.place(a), []sim.Place{}
	for _, name := range a.rest() {
		others = append(others, s.placeOf(a, name))
	}
	if !a.ok() {
		return
	}
	passes := func(x, y sim.Place) bool {
		return x == center && slices.Contains(others, y) || y == center && slices.Contains(others, x)
	}
	for _, v := range s.voters {
		for _, w := range s.voters {
			if x, y := sim.Place(v.Node), sim.Place(w.Node); passes(x, y) {
				s.world.Network.Heal(x, y)
			} else if x != y {
				s.world.Network.Cut(x, y)
			}
		}
	}
}

// wipe puts an empty disk in the place of that of a machine that runs nothing.
func wipe(s *stage, a *args) {
	m := s.machine(a)
	if a.ok() && m.Running() {
		a.fails("%s runs", m.Place)
	}
	if a.ok() {
		m.Disk.Wipe()
	}
}

// await runs until a controller is the leader of its term, whether or not anything of the term is
// committed.
func await(s *stage, a *args) {
	m := s.machine(a)
	if what := a.next("leads"); what != "leads" {
		a.fails("%q stands where leads should", what)
	}
	if !a.ok() {
		return
	}
	s.until(a, func() bool {
		c := controllerOf(m)
		return c != nil && c.Voter() != nil && c.Voter().Role() == quorum.Leader
	})
}

func controllerOf(m *sim.Machine) *controller.Controller {
	if m.Node() == nil || m.Node().Loop(node.ControllerLoop) == nil {
		return nil
	}
	return m.Node().Loop(node.ControllerLoop).Core().(*controller.Controller)
}

// raft tells the term, the leader and the log of controllers: each entry with the term that it is of,
// and a bar behind the last one that the controller knows to be committed.
func raft(s *stage, a *args) {
	for len(a.words) > 0 && a.ok() {
		if m := s.machine(a); a.ok() {
			s.raft(m)
		}
	}
}

func (s *stage) raft(m *sim.Machine) {
	who, c := m.Place.String(), controllerOf(m)
	switch {
	case c == nil:
		s.say(who, "no process")
		return
	case c.Voter() == nil:
		s.say(who, "no voter yet")
		return
	}
	st := c.Voter().Status()
	s.name(who, st.Voter)
	leads := map[bool]string{true: "leads", false: "elected"}[st.Leading]
	switch {
	case st.Role == quorum.Leader:
	case st.Leader != 0:
		leads = "follows " + s.voterName(st.Leader)
	default:
		leads = "no leader"
	}
	s.say(who, "term %d, %s: %s", st.Hard.Term, leads, describeLog(c.Voter()))
}

func describeLog(q *quorum.Quorum) string {
	entries, committed := q.Log()
	var words []string
	if start := q.Status().Start; start.Index > 1 { // which is where a founder's log begins
		words, committed = append(words, "snapshot"), committed+1
	}
	for i := range entries {
		words = append(words, fmt.Sprintf("%d:%s", entries[i].Term, describeEntry(&entries[i])))
	}
	return strings.Join(slices.Insert(words, committed, "|"), " ")
}

// describeEntry names an entry by what is in it.
func describeEntry(e *quorum.Entry) string {
	if e.Kind != quorum.EntryNormal {
		return "members"
	}
	if len(e.Data) == 0 {
		return "empty"
	}
	records, _ := metadata.DecodeEntry(e.Data)
	for _, r := range records {
		switch r := r.(type) {
		case *metadata.ClusterRecord:
			return "cluster"
		case *metadata.TopicRecord:
			return r.Name
		case *metadata.BrokerRecord, *metadata.BrokerStateRecord:
			return "broker"
		case *metadata.VoterRecord, *metadata.VoterRemovalRecord:
			return "voter"
		}
	}
	return "other"
}

// members tells which voters there are, as a controller has applied it.
func members(s *stage, a *args) {
	m := s.machine(a)
	if !a.ok() {
		return
	}
	who, c := m.Place.String(), controllerOf(m)
	if c == nil || c.Voter() == nil {
		s.say(who, "no voter yet")
		return
	}
	st := c.Voter().Status()
	s.name(who, st.Voter)
	is := "no member"
	if slices.Contains(st.Members.Voters, st.Voter) {
		is = "a voter"
	} else if slices.Contains(st.Members.Learners, st.Voter) {
		is = "a learner"
	}
	s.say(who, "%s is %s of [%s]", s.voterName(st.Voter), is, s.voterNames(st.Members.Voters))
}

// name remembers the voter of a node: a voter is a directory, so that of a new one is another, which is
// told by a prime.
func (s *stage) name(node string, voter uint64) {
	if _, known := s.voterOf[voter]; known {
		return
	}
	name := node
	for slices.Contains(s.named, name) {
		name += "'"
	}
	s.named = append(s.named, name)
	s.voterOf[voter] = name
}

func (s *stage) voterName(voter uint64) string {
	for _, m := range s.world.Machines { // one that was not shown yet
		if c := controllerOf(m); c != nil && c.Voter() != nil && s.voterOf[voter] == "" {
			s.name(m.Place.String(), c.Voter().Status().Voter)
		}
	}
	return s.voterOf[voter]
}

func (s *stage) voterNames(voters []uint64) string {
	names := make([]string, 0, len(voters))
	for _, v := range voters {
		names = append(names, s.voterName(v))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
