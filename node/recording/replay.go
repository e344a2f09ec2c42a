package recording

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/node"
)

// maxTurnBytes bounds one turn of a recording.
const maxTurnBytes = 1 << 30

// Result is the outcome of a replay.
type Result struct {
	Turns  int64 // that were compared
	Events int64
	// Divergent describes the first turn whose effects differ, or is empty.
	Divergent string
}

// Replay runs the turns of a recording through fresh loops and compares the hashes of their
// effects, up to the first that differs. streams makes randomness of a seed as the recorded node
// did. A recording that ends in the middle of a turn (the process was killed) is compared as far
// as it goes.
func Replay(in io.Reader, streams func(seed [32]byte) func(env.Use) *rand.Rand) (Result, error) {
	var res Result
	r := bufio.NewReaderSize(in, 1<<16)
	cores, err := readSetup(r, streams)
	if err != nil {
		return res, err
	}
	p := player{cores: cores, unpack: newUnpacker(), types: resultTypes()}
	for {
		t, recorded, err := p.next(r)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return res, nil
		}
		if err != nil {
			return res, fmt.Errorf("turn %d: %w", res.Turns, err)
		}
		hash, err := p.play(t)
		if err != nil {
			return res, fmt.Errorf("turn %d: %w", res.Turns, err)
		}
		res.Turns++
		res.Events += int64(len(t.Events))
		if hash != recorded {
			res.Divergent = fmt.Sprintf("turn %d of the %v loop, events %v: effects %x, recorded %x",
				res.Turns, t.Loop, kinds(t.Events), hash, recorded)
			return res, nil
		}
	}
}

func kinds(events []event) []env.EventKind {
	out := make([]env.EventKind, len(events))
	for i := range events {
		out[i] = events[i].Kind
	}
	return out
}

// readSetup reads the first line and makes the loops' state machines.
func readSetup(r *bufio.Reader, streams func([32]byte) func(env.Use) *rand.Rand) (
	[node.LoopCount]node.Core, error,
) {
	var cores [node.LoopCount]node.Core
	line, err := r.ReadBytes('\n')
	if err != nil {
		return cores, fmt.Errorf("no recording: %w", err)
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil || h.Stet != "record" {
		return cores, errors.New("no recording: the first line does not say so")
	}
	if h.Format != formatVersion {
		return cores, fmt.Errorf("recording of format %d: this build reads %d", h.Format, formatVersion)
	}
	if err := checkCommit(h.Commit, commitOfBuild()); err != nil {
		return cores, err
	}
	seed, err := hex.DecodeString(h.Seed)
	if err != nil || len(seed) != 32 {
		return cores, errors.New("recording without a seed")
	}
	packed, err := hex.DecodeString(h.Setup)
	if err != nil {
		return cores, fmt.Errorf("recording: setup: %w", err)
	}
	var s setup
	d := deepReader{types: resultTypes(), b: packed}
	if err := d.read(reflect.ValueOf(&s).Elem()); err != nil {
		return cores, fmt.Errorf("recording: setup: %w", err)
	}
	draw := streams([32]byte(seed))
	if s.Config.Roles.Has(node.BrokerLoop) {
		cores[node.BrokerLoop] = broker.New(&s.Config.Broker, s.Identity, draw)
	}
	if replayable(&s.Config, node.ControllerLoop) {
		cores[node.ControllerLoop] = controller.New(&s.Config.Controller, s.Identity, draw)
	}
	return cores, nil
}

// player runs recorded turns.
type player struct {
	cores  [node.LoopCount]node.Core
	unpack *unpacker
	types  *deepTypes
	hasher hasher
	events []env.Event
	out    env.Effects
	line   []byte
}

// next reads one turn and the hash of what it emitted.
func (p *player) next(r *bufio.Reader) (*turn, Hash, error) {
	var size [4]byte
	var hash Hash
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, hash, err
	}
	n := int(binary.BigEndian.Uint32(size[:]))
	if n > maxTurnBytes || n < len(hash) {
		return nil, hash, fmt.Errorf("a turn of %d bytes", n)
	}
	p.line = slices.Grow(p.line[:0], n)[:n]
	if _, err := io.ReadFull(r, p.line); err != nil {
		return nil, hash, err
	}
	copy(hash[:], p.line[n-len(hash):])
	t, err := p.parse(p.line[:n-len(hash)])
	return t, hash, err
}

// parse reads what appendTurn wrote.
func (p *player) parse(line []byte) (*turn, error) {
	t := &turn{}
	d := deepReader{types: p.types, b: line}
	if err := d.read(reflect.ValueOf(t).Elem()); err != nil {
		return nil, err
	}
	if t.Loop >= node.LoopCount || p.cores[t.Loop] == nil {
		return nil, fmt.Errorf("loop %d, which the node has not", t.Loop)
	}
	return t, nil
}

// play runs a turn and returns the hash of what it emitted.
func (p *player) play(t *turn) (Hash, error) {
	p.events = p.events[:0]
	for i := range t.Events {
		ev, err := p.unpack.unpack(t.Loop, &t.Events[i])
		if err != nil {
			return Hash{}, err
		}
		p.events = append(p.events, ev)
	}
	p.out.Reset()
	p.cores[t.Loop].Turn(t.Now, p.events, &p.out)
	return p.hasher.effects(&p.out), nil
}
