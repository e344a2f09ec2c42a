package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"stet/core/env"
)

// Entropy derives a stream for every consumer from one seed. A stream depends on the seed, its
// purpose and its place, and on nothing else: a draw added in one place does not move the others.
type Entropy struct {
	seed    uint64
	streams []*Stream // in the order of first use, which is a function of the seed
	byName  map[streamName]*Stream
	fold    uint64

	recording bool
	playing   map[string][]int64 // by stream; nil if nothing is played
}

type streamName struct {
	purpose string
	place   Place
}

// NewEntropy returns the streams of a seed.
func NewEntropy(seed uint64) *Entropy {
	return &Entropy{seed: seed, byName: map[streamName]*Stream{}}
}

// Seed returns the seed.
func (e *Entropy) Seed() uint64 { return e.seed }

// Stream returns the stream of a purpose at a place, always the same one.
func (e *Entropy) Stream(purpose string, p Place) *Stream {
	name := streamName{purpose, p}
	if s := e.byName[name]; s != nil {
		return s
	}
	key := sha256.Sum256(fmt.Appendf(nil, "stet\x00%d\x00%s\x00%d", e.seed, purpose, p))
	mark := sha256.Sum256(key[:])
	source := &countingSource{
		name: fmt.Sprintf("%s@%s", purpose, p), chacha: rand.NewChaCha8(key),
		weight: binary.LittleEndian.Uint64(mark[:]) | 1, fold: &e.fold,
	}
	s := &Stream{
		Rand: rand.New(source), source: source, tape: e.newTape(source.name),
		entropy: e, name: name,
	}
	e.byName[name] = s
	e.streams = append(e.streams, s)
	return s
}

// Fold mixes all cursors into one number. It changes with every draw, and two histories of draws
// that differ in any stream's count differ in it but for a chance of 2^-63.
func (e *Entropy) Fold() uint64 { return e.fold }

// Cursor is how far a stream has been drawn.
type Cursor struct {
	Name  string // purpose@place
	Draws uint64
}

// Cursors lists all streams in the order of their first use.
func (e *Entropy) Cursors() []Cursor {
	out := make([]Cursor, len(e.streams))
	for i, s := range e.streams {
		out[i] = Cursor{s.source.name, s.source.draws}
	}
	return out
}

// useNames are the purposes of a node's own streams.
var useNames = [env.UseCount]string{
	env.UseRaft: "node raft", env.UseTopicID: "node topic id",
	env.UseSessionID: "node session id", env.UseIdentity: "node identity",
}

// NodeEntropy hands a node its streams, one for each env.Use.
type NodeEntropy struct {
	entropy *Entropy
	place   Place
}

// Node returns the streams of the node at p. They go on across its restarts, so that a new
// incarnation does not draw what the last one drew.
func (e *Entropy) Node(p Place) NodeEntropy { return NodeEntropy{e, p} }

// Stream returns the stream of a use.
func (n NodeEntropy) Stream(u env.Use) *rand.Rand { return n.Sim(u).Rand }

// Sim returns the same stream with its cursor.
func (n NodeEntropy) Sim(u env.Use) *Stream { return n.entropy.Stream(useNames[u], n.place) }
