package shrink

import (
	"strings"

	"stet/scenarios/schedule"
)

// edit makes one thing of a schedule simpler. It is given a clone, and must not write into what a
// clone shares with its origin: records, anchors, remains, values of tapes. The edits of a pass are
// made from the last to the first, so that those which remove from a list leave the places of the
// others alone.
type edit func(*schedule.Schedule)

// pass is one way to make a schedule simpler.
type pass struct {
	name string
	// edits lists independent edits, of which any number may be made.
	edits func(*schedule.Schedule) []edit
	// choices lists edits of which one at a time is made, and the list is made anew after each. Each
	// must lead away from where it came from, so that they come to an end.
	choices func(*schedule.Schedule) []edit
}

// passes lists all, in the order in which they are made.
func passes() []pass {
	return []pass{
		{name: "no tapes", choices: noTapes},
		{name: "end", edits: resetEnd},
		{name: "faults", edits: dropFaults},
		{name: "clients", edits: dropClients},
		{name: "operators", edits: dropOperators},
		{name: "machines", choices: fewerMachines},
		{name: "earlier faults", choices: earlierFaults},
		{name: "sends", edits: dropSends},
		{name: "operations", edits: dropOperations},
		{name: "ends of tapes", choices: shorterTapes},
		{name: "partitions", choices: fewerPartitions},
		{name: "tapes", edits: dropTapes},
		{name: "halves of tapes", edits: halfTapes},
		{name: "node and world", edits: resetWorld},
		{name: "clocks", edits: resetMachines},
		{name: "settings of clients", edits: resetClients},
		{name: "sequences", choices: highSequences},
		{name: "what is sent", edits: plainSends},
		{name: "what is asked", edits: plainOperations},
		{name: "remains", edits: dropRemains},
		{name: "pages", edits: dropPages},
		{name: "values of faults", choices: simplerFaults},
		{name: "sends for time", edits: waitInstead},
		{name: "operations for time", edits: idleInstead},
	}
}

// edited returns a clone of s with edits made.
func edited(s *schedule.Schedule, edits []edit, which []int) *schedule.Schedule {
	c := s.Clone()
	for i := len(which) - 1; i >= 0; i-- {
		edits[which[i]](c)
	}
	return c
}

// resetWorld lists edits that set each setting of the node and of the world as it always is.
func resetWorld(s *schedule.Schedule) (edits []edit) {
	for line := range strings.Lines(worldText(s)) {
		if strings.HasPrefix(line, "node ") || strings.HasPrefix(line, "world ") {
			edits = append(edits, func(c *schedule.Schedule) { withoutLine(c, line) })
		}
	}
	return edits
}

// worldText is the text of a schedule with the settings of s that are not of clients.
func worldText(s *schedule.Schedule) string {
	only := schedule.Schedule{Node: s.Node, World: s.World, Topic: schedule.Topic{Partitions: 1}}
	return only.String()
}

// withoutLine takes a line off the settings of the node or the world.
func withoutLine(s *schedule.Schedule, line string) {
	text := strings.Replace(worldText(s), "\n"+line, "\n", 1)
	parsed, err := schedule.Parse(strings.NewReader(text))
	if err == nil { // else it stays
		s.Node, s.World = parsed.Node, parsed.World
	}
}
