package golden

import (
	"errors"
	"fmt"
	"strings"

	"stet/sim"
)

// dashes stand between commands and what they caused.
const dashes = "----"

// Run runs a script in a world of this seed and returns it with the transcript that came out: the
// script itself, if all went as it says. An error names the line of a command that makes no sense.
func Run(script string, seed uint64) (transcript string, err error) {
	s := newStage(seed)
	defer s.world.Close()
	var out []string
	for _, b := range split(script) {
		if err := s.play(&b); err != nil {
			return "", err
		}
		out = append(out, strings.Join(append(b.lines, s.take()...), "\n")+"\n")
	}
	return strings.Join(out, "\n"), nil
}

// block is a part of a script: its comments and commands, and the dashes under them.
type block struct {
	first  int // the number of its first line
	lines  []string
	dashed bool
}

// split finds the blocks of a script and leaves their transcripts out.
func split(script string) (blocks []block) {
	number, open := 0, false
	for line := range strings.Lines(script) {
		number++
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			open = false
			continue
		}
		if !open {
			open = true
			blocks = append(blocks, block{first: number})
		}
		b := &blocks[len(blocks)-1]
		if !b.dashed {
			b.lines = append(b.lines, line)
			b.dashed = line == dashes
		}
	}
	return blocks
}

// play runs the commands of a block.
func (s *stage) play(b *block) error {
	for i, line := range b.lines {
		if line == dashes || strings.HasPrefix(line, "#") {
			continue
		}
		err := s.command(line)
		if !b.dashed {
			err = errNoDashes
		}
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", b.first+i, line, err)
		}
	}
	return nil
}

var errNoDashes = errors.New("no line of dashes stands below it")

// command runs one line of commands.
func (s *stage) command(line string) error {
	a := parseArgs(line)
	run, ok := commands[a.command]
	if !ok {
		return errors.New("no such command")
	}
	run(s, a)
	return a.verdict()
}

// commands are all commands by name.
var commands = map[string]func(*stage, *args){
	"nodes": nodes, "start": start, "stop": stop, "kill": kill, "power": power, "pause": pause,
	"controllers": controllers, "star": star, "brokers": brokers, "wipe": wipe, "await": await, "lose": lose,
	"hold": holdBack, "pass": pass, "raft": raft, "members": members, "replicas": replicas,
	"clock": clock, "advance": advance, "cut": cut, "heal": heal,
	"fault": fault, "flip": flip, "capacity": capacity,
	"dial": dial, "create": create, "delete": remove, "topic": topic, "producer": producerID,
	"produce": produce, "fetch": fetch, "list": list,
	"status": status, "log": storedLog, "index": index, "files": files,
}

// advance lets time pass.
func advance(s *stage, a *args) { s.world.Run(a.duration(), nil) }

// cut lets nothing pass between two places, or from one to another: n1>n2.
func cut(s *stage, a *args) {
	from, to, oneWay := strings.Cut(a.next("a node or client"), ">")
	if !oneWay {
		to = a.next("a node or client")
	}
	x, y := s.placeOf(a, from), s.placeOf(a, to)
	if !a.ok() {
		return
	}
	s.world.Network.Cut(x, y)
	if !oneWay {
		s.world.Network.Cut(y, x)
	}
}

// heal ends a cut, in both directions, or all.
func heal(s *stage, a *args) {
	first := a.next("a node or client, or all")
	if first == "all" {
		s.world.Network.HealAll()
		return
	}
	x, y := s.placeOf(a, first), s.place(a)
	if a.ok() {
		s.world.Network.Heal(x, y)
		s.world.Network.Heal(y, x)
	}
}

// place takes the name of a node or of a client.
func (s *stage) place(a *args) sim.Place { return s.placeOf(a, a.next("a node or client")) }

func (s *stage) placeOf(a *args, name string) sim.Place {
	if c := s.clients[name]; c != nil {
		return c.place
	}
	if m := s.machines[name]; m != nil {
		return m.Place
	}
	a.fails("%q is neither a node nor a client", name)
	return 0
}
