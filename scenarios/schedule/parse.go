package schedule

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"stet/core/kafka"
	"stet/sim"
)

// Bounds of what a schedule may ask for, so that a typing error does not exhaust the memory.
const (
	maxPartitions  = 1000
	maxRecordBytes = 1 << 20
	maxLineBytes   = 1 << 20
	maxValues      = 50_000_000 // of all tapes
)

// Parse reads the text of a schedule. An error names the line and what to do.
func Parse(r io.Reader) (*Schedule, error) {
	p := parser{s: &Schedule{World: BaseWorld(), Node: BaseNode()}}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), maxLineBytes)
	for in.Scan() {
		p.line++
		if err := p.take(in.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.line+1, err)
	}
	if p.line == 0 {
		return nil, errors.New("line 1: the file is empty: the first line is " + magic)
	}
	return p.s, p.s.check()
}

// parser reads lines; those that are indented belong to the last one that is not.
type parser struct {
	s       *Schedule
	line    int
	section string
	values  int
}

func (p *parser) take(text string) error {
	if p.line == 1 {
		if text != magic {
			return fmt.Errorf("%.40q: not a schedule of this version: the first line is %q", text, magic)
		}
		return nil
	}
	words := strings.Fields(text)
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return nil
	}
	if text[0] == ' ' || text[0] == '\t' {
		return p.detail(words)
	}
	p.section = words[0]
	rest := words[1:]
	s := p.s
	switch p.section {
	case "topic":
		return assign(&s.Topic, rest)
	case "clients":
		return assign(&s.Clients, rest)
	case "end":
		return assign(&s.End, rest)
	case "world":
		return assign(&s.World, rest)
	case "node":
		return assign(&s.Node, rest)
	case "producer":
		var producer Producer
		err := p.client("p", rest, &producer.ID, &producer.ProducerConfig)
		s.Producers = append(s.Producers, producer)
		return err
	case "consumer":
		var consumer Consumer
		err := p.client("c", rest, &consumer.ID, &consumer.ConsumerConfig)
		s.Consumers = append(s.Consumers, consumer)
		return err
	case "lister":
		var lister Lister
		err := p.client("c", rest, &lister.ID, &struct{}{})
		s.Listers = append(s.Listers, lister)
		return err
	case "replicas":
		return assign(&s.Replicas, rest)
	case "machine":
		var machine Machine
		err := p.client("n", rest, &machine.ID, &machine.MachineSettings)
		s.Machines = append(s.Machines, machine)
		return err
	case "operator":
		var operator Operator
		err := p.client("o", rest, &operator.ID, &struct{}{})
		s.Operators = append(s.Operators, operator)
		return err
	case "fault":
		f, err := parseFault(rest)
		s.Faults = append(s.Faults, f)
		return err
	case "tape":
		s.Tapes = append(s.Tapes, sim.Tape{Stream: strings.Join(rest, " ")})
		return nil
	}
	for _, f := range s.Header.fields() {
		if f.name == p.section {
			return f.set(strings.Join(rest, " "))
		}
	}
	return fmt.Errorf("%q: a line begins with scenario, seed, commit, toolchain, hash, fails, canaries, topic, "+
		"clients, end, world, node, producer, consumer, lister, replicas, machine, operator, fault or tape", p.section)
}

// client reads the name of a client, a letter and a number, and its settings.
func (p *parser) client(letter string, words []string, id *int, config any) error {
	if len(words) == 0 {
		return fmt.Errorf("%s: give a name, as %s1", p.section, letter)
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(words[0], letter), 10, 20)
	if err != nil || !strings.HasPrefix(words[0], letter) {
		return fmt.Errorf("%s %q: the name is %s and a number", p.section, words[0], letter)
	}
	*id = int(n)
	return assign(config, words[1:])
}

// detail reads a line that belongs to the one above.
func (p *parser) detail(words []string) error {
	s := p.s
	switch {
	case p.section == "producer" && words[0] == "send":
		send, err := parseSend(words[1:])
		last := &s.Producers[len(s.Producers)-1]
		last.Sends = append(last.Sends, send)
		return err
	case p.section == "operator" && words[0] == "do":
		o, err := parseOperation(words[1:])
		last := &s.Operators[len(s.Operators)-1]
		last.Operations = append(last.Operations, o)
		return err
	case p.section == "fault" && words[0] == "keep" && len(words) > 1:
		return parseKeep(&s.Faults[len(s.Faults)-1].Do.Remains, words[1:])
	case p.section == "tape":
		return p.tape(&s.Tapes[len(s.Tapes)-1], words)
	}
	return fmt.Errorf("%q: below %q stands no such line", words[0], p.section)
}

func (p *parser) tape(t *sim.Tape, words []string) error {
	for _, word := range words {
		count, value, many := strings.Cut(word, "*")
		n := uint64(1)
		var err error
		if many {
			n, err = strconv.ParseUint(count, 10, 32)
		} else {
			value = count
		}
		v, err2 := strconv.ParseInt(value, 10, 64)
		if p.values += int(n); err != nil || err2 != nil || p.values > maxValues {
			return fmt.Errorf("%q: a tape has integers, or count*integer, at most %d", word, maxValues)
		}
		for range n {
			t.Values = append(t.Values, v)
		}
	}
	return nil
}

func parseSend(words []string) (s Send, err error) {
	if len(words) < 5 || words[1] != "to" || !strings.HasPrefix(words[3], "+") {
		return s, errors.New("send: give NUMBER to PARTITION +AFTER BYTES@MILLISECONDS…")
	}
	number, err := strconv.ParseUint(words[0], 10, 31)
	partition, err2 := strconv.ParseUint(words[2], 10, 31)
	s.Number, s.Partition = int(number), kafka.PartitionID(partition)
	after, err3 := parseSpan(words[3][1:])
	if s.After = after; errors.Join(err, err2, err3) != nil || after < 0 {
		return s, fmt.Errorf("send %s: give NUMBER to PARTITION +AFTER", strings.Join(words[:4], " "))
	}
	for _, word := range words[4:] {
		word, key, keyed := strings.Cut(word, "#")
		size, stamp, ok := strings.Cut(word, "@")
		var number uint64
		var err3 error
		if keyed {
			number, err3 = strconv.ParseUint(key, 10, 8)
		}
		bytes, err := strconv.ParseUint(size, 10, 31)
		ms, err2 := strconv.ParseInt(stamp, 10, 32)
		if !ok || errors.Join(err, err2, err3) != nil || bytes > maxRecordBytes {
			return s, fmt.Errorf("record %q: give BYTES@MILLISECONDS, perhaps #KEY, at most %d bytes", word, maxRecordBytes)
		}
		s.Records = append(s.Records, Record{int(bytes), ms, int(number)})
	}
	return s, nil
}

// check says what contradicts itself.
func (s *Schedule) check() error {
	if n := s.Topic.Partitions; n < 1 && len(s.Machines) == 0 || n < 0 || n > maxPartitions {
		return fmt.Errorf("topic partitions=%d: give 1 to %d", n, maxPartitions)
	}
	ids := map[int]bool{}
	once := func(id int) error {
		if ids[id] {
			return fmt.Errorf("client %d: the number is taken: give each client its own", id)
		}
		ids[id] = true
		return nil
	}
	var faults []error
	for i := range s.Producers {
		p := &s.Producers[i]
		faults = append(faults, once(p.ID))
		if p.Partitions = s.Topic.Partitions; p.InFlight < 1 || p.InFlight > 5 || p.Attempts < 1 {
			faults = append(faults, fmt.Errorf("producer p%d: give in-flight 1 to 5, attempts from 1", p.ID))
		}
		for j := range p.Sends {
			if int32(p.Sends[j].Partition) >= s.Topic.Partitions {
				faults = append(faults, fmt.Errorf("p%d send %d: partition %d of %d", p.ID,
					p.Sends[j].Number, p.Sends[j].Partition, s.Topic.Partitions))
			}
		}
	}
	for i := range s.Consumers {
		faults = append(faults, once(s.Consumers[i].ID))
		s.Consumers[i].Partitions = s.Topic.Partitions
	}
	for _, l := range s.Listers {
		faults = append(faults, once(l.ID))
	}
	faults = append(faults, s.checkCluster(once), s.checkAlone())
	return errors.Join(faults...)
}
