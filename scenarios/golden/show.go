package golden

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/sim"
)

// longName completes the name of a segment's file, of which scripts leave out leading zeros.
func longName(name string) string {
	dir, file := path.Split(name)
	digits, suffix, _ := strings.Cut(file, ".")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || suffix == "" {
		return name
	}
	return dir + commitlog.FileName(kafka.Offset(n), "."+suffix)
}

// twentyDigits is how Kafka names the files of a segment.
var twentyDigits = regexp.MustCompile(`\b\d{20}\.`)

// shortNames takes leading zeros out of the names of files in a text.
func shortNames(text string) string {
	return twentyDigits.ReplaceAllStringFunc(text, func(digits string) string {
		return digits[min(strings.IndexFunc(digits, func(r rune) bool { return r != '0' }), 19):]
	})
}

// segmentFiles lists the files of a partition with a suffix, in order.
func segmentFiles(d *sim.Disk, tp kafka.TopicPartition, suffix string) (paths []env.Path) {
	for _, e := range d.Entries(env.Path{Name: tp.String()}) {
		if strings.HasSuffix(e.Name, suffix) {
			paths = append(paths, env.Path{Name: tp.String() + "/" + e.Name})
		}
	}
	return paths
}

// storedLog tells the batches of a partition as its files have them.
func storedLog(s *stage, a *args) {
	m, tp := s.machine(a), a.partition(a.next("a partition"))
	read := (*sim.Disk).Bytes
	if rest := a.rest(); len(rest) == 1 && rest[0] == "medium" {
		read = (*sim.Disk).DurableBytes
	} else if len(rest) > 0 {
		a.fails("%s: only medium may stand here", rest)
	}
	if !a.ok() {
		return
	}
	logs := segmentFiles(m.Disk, tp, ".log")
	if len(logs) == 0 {
		s.say(m.Place.String(), "no files of %s", tp)
	}
	for _, p := range logs {
		content, ok := read(m.Disk, p)
		if !ok {
			s.say(m.Place.String(), "%s has no name on the medium", p.Name)
			continue
		}
		s.say(m.Place.String(), "%s has %d bytes", p.Name, len(content))
		s.batches(content)
	}
}

// batches tells the batches of a segment, up to the first bytes that are none.
func (s *stage) batches(content []byte) {
	for position := 0; position < len(content); {
		b := content[position:]
		v, _, problem := record.First(b)
		if problem == record.NoProblem {
			problem = record.Check(v)
		}
		if problem != record.NoProblem {
			s.show("%d bytes that are no batch: %s", len(b), describe(b, problem))
			return
		}
		s.show("[%d,%d) epoch %d%s: %s", v.BaseOffset(), v.NextOffset(), v.LeaderEpoch(),
			describeProducer(v), strings.Join(values(v), " "))
		position += len(v)
	}
}

func describe(b []byte, p record.Problem) string {
	if len(bytes.Trim(b, "\x00")) == 0 {
		return "zeros"
	}
	return p.String()
}

func describeProducer(v record.View) string {
	if v.ProducerID() < 0 {
		return ""
	}
	return fmt.Sprintf(", producer %d epoch %d sequence %d", v.ProducerID(), v.ProducerEpoch(),
		v.BaseSequence())
}

// values reads the records of a sound batch, without what pads them.
func values(v record.View) (all []string) {
	var scratch record.Scratch
	scratch.Records(v, 16<<20, func(r record.Record) bool {
		all = append(all, strings.TrimRight(string(r.Value), padding))
		return true
	})
	return all
}

// padding fills values up to a size.
const padding = "."

// index tells the entries of a partition's indexes.
func index(s *stage, a *args) {
	m, tp := s.machine(a), a.partition(a.next("a partition"))
	if !a.ok() {
		return
	}
	for _, p := range segmentFiles(m.Disk, tp, "index") {
		file := path.Base(p.Name)
		digits, suffix, _ := strings.Cut(file, ".")
		base, _ := strconv.ParseInt(digits, 10, 64)
		content, _ := m.Disk.Bytes(p)
		s.say(m.Place.String(), "%s has %d bytes", p.Name, len(content))
		if suffix == "index" {
			entries, _ := commitlog.DecodeIndex(content, kafka.Offset(base))
			for _, e := range entries {
				s.show("offset %d is in the batch at byte %d", e.Offset, e.Position)
			}
			continue
		}
		entries, _ := commitlog.DecodeTimeIndex(content, kafka.Offset(base))
		for _, e := range entries {
			s.show("nothing up to offset %d is later than %s", e.Offset, sinceBeginning(e.Timestamp))
		}
	}
}

// files tells the files of a directory, or one file, and what of them is durable.
func files(s *stage, a *args) {
	m, name := s.machine(a), longName(a.next("a directory or file"))
	if !a.ok() {
		return
	}
	unsynced := map[string]bool{}
	for _, name := range m.Disk.UnsyncedFiles(0) {
		unsynced[name] = true
	}
	describe := func(p env.Path) string {
		content, _ := m.Disk.Bytes(p)
		state := ""
		if size, ok := m.Disk.DurableSize(p); !ok {
			state = ", no durable name"
		} else if unsynced[p.Name] {
			state = fmt.Sprintf(", %d durable", size)
		}
		return fmt.Sprintf("%d bytes%s", len(content), state)
	}
	who, entries := m.Place.String(), m.Disk.Entries(env.Path{Name: name})
	if _, ok := m.Disk.Bytes(env.Path{Name: name}); ok {
		s.say(who, "%s: %s", name, describe(env.Path{Name: name}))
		return
	}
	if len(entries) == 0 {
		s.say(who, "no %s", name)
		return
	}
	s.say(who, "%s", name)
	for _, e := range entries {
		s.show("%s: %s", e.Name, describe(env.Path{Name: name + "/" + e.Name}))
	}
}
