package golden

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stet/core/kafka"
	"stet/sim"
)

// args are the words of a command: positional ones in order, and options NAME=VALUE. Whatever is
// wrong with them, or was not asked for, is an error of the command.
type args struct {
	command    string
	words      []string
	options    map[string]string
	background bool
	err        error
}

func parseArgs(line string) *args {
	a := &args{options: map[string]string{}}
	for i, word := range strings.Fields(line) {
		name, value, option := strings.Cut(word, "=")
		switch {
		case i == 0:
			a.command = word
		case word == "&":
			a.background = true
		case option:
			a.options[name] = value
		default:
			a.words = append(a.words, word)
		}
	}
	return a
}

func (a *args) ok() bool { return a.err == nil }

// fails notes what is wrong; the first thing counts.
func (a *args) fails(format string, values ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, values...)
	}
}

// verdict is what was wrong, words that nobody took included.
func (a *args) verdict() error {
	rest := append(slices.Clone(a.words), slices.Sorted(maps.Keys(a.options))...)
	if a.err == nil && len(rest) > 0 {
		return fmt.Errorf("%s takes no %s", a.command, rest)
	}
	return a.err
}

// next takes the next word.
func (a *args) next(what string) string {
	if len(a.words) == 0 {
		a.fails("it wants %s", what)
		return ""
	}
	word := a.words[0]
	a.words = a.words[1:]
	return word
}

// rest takes all words that are left.
func (a *args) rest() []string {
	words := a.words
	a.words = nil
	return words
}

// option takes an option, or returns what stands for none.
func (a *args) option(name, none string) string {
	value, ok := a.options[name]
	delete(a.options, name)
	if !ok {
		return none
	}
	return value
}

func (a *args) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		a.fails("%q is no number", text)
	}
	return n
}

func (a *args) duration() sim.Time { return a.asDuration(a.next("a duration")) }

func (a *args) asDuration(text string) sim.Time {
	d, err := time.ParseDuration(text)
	if err != nil {
		a.fails("%q is no duration", text)
	}
	return sim.Time(d)
}

// stamp reads a time since the beginning of the world, as milliseconds since 1970.
func (a *args) stamp(text string) int64 {
	return sim.WallEpochMs + int64(a.asDuration(text)/sim.Millisecond)
}

// sinceBeginning writes what stamp reads, to a tenth of a second: how long a node takes to begin is
// not what a script is about.
func sinceBeginning(stamp int64) string {
	if stamp < 0 {
		return "none"
	}
	return (time.Duration(stamp-sim.WallEpochMs) * time.Millisecond).Round(time.Second / 10).String()
}

func (a *args) partition(text string) kafka.TopicPartition {
	at := strings.LastIndexByte(text, '-')
	if at <= 0 {
		a.fails("%q is no partition, such as orders-0", text)
		return kafka.TopicPartition{}
	}
	return kafka.TopicPartition{
		Topic: text[:at], Partition: kafka.PartitionID(a.number(text[at+1:])),
	}
}

var errTooLate = errors.New("it is not over within ten minutes of virtual time")
