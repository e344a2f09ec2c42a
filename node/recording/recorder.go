package recording

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"

	"stet/core/env"
	"stet/node"
)

// formatVersion is the version of the recording's format. It depends on the build: a recording is
// replayed by the commit that made it.
const formatVersion = 1

// header is the first line of a recording.
type header struct {
	Stet   string `json:"stet"` // "record"
	Format int    `json:"format"`
	Commit string `json:"commit,omitempty"` // that the build is of, if it knows
	Seed   string `json:"seed"`             // of the node's randomness, hex
	Setup  string `json:"setup"`            // configuration and identity, hex of the deep codec
}

// Is says whether line is the first line of a recording.
func Is(line []byte) bool {
	var h header
	return json.Unmarshal(line, &h) == nil && h.Stet == "record"
}

// setup is what a node was made of.
type setup struct {
	Config   node.Config
	Identity env.Identity
}

// Recorder writes turns as they happen. It implements node.Tap; both loops share it.
type Recorder struct {
	records [node.LoopCount]bool // see replayable

	// Each loop has its own, and runs one turn at a time.
	turns   [node.LoopCount]turn
	packed  [node.LoopCount][]byte
	hashers [node.LoopCount]hasher

	mu  sync.Mutex
	w   *bufio.Writer
	err error
}

// replayable says whether the turns of a loop are a function of what is recorded. Those of a
// controller in a quorum of several are not: etcd raft draws its election timeouts from crypto/rand,
// which only a simulation can replace.
func replayable(c *node.Config, l node.LoopID) bool {
	return c.Roles.Has(l) && (l != node.ControllerLoop || len(c.Controller.Controllers) <= 1)
}

// NewRecorder starts a recording on w of a node that is made of these parts: of those of its loops
// that can be replayed. It refuses a node that has none.
func NewRecorder(w io.Writer, seed [32]byte, c *node.Config, id env.Identity) (*Recorder, error) {
	r := &Recorder{w: bufio.NewWriterSize(w, 1<<16)}
	c = c.Filled()
	for l := range node.LoopCount {
		r.records[l] = replayable(c, l)
	}
	if r.records == [node.LoopCount]bool{} {
		return nil, errors.New("recording: a controller among several draws its election timeouts " +
			"from the operating system, so its turns can not be replayed: record a broker")
	}
	first, err := json.Marshal(header{
		Stet: "record", Format: formatVersion, Commit: commitOfBuild(), Seed: hex.EncodeToString(seed[:]),
		Setup: hex.EncodeToString(appendDeep(nil, reflect.ValueOf(&setup{*c, id}).Elem())),
	})
	if err != nil {
		return nil, err
	}
	_, err = r.w.Write(append(first, '\n'))
	return r, err
}

// Turning implements node.Tap: it packs the events, which the turn may consume.
func (r *Recorder) Turning(l node.LoopID, now env.Now, in []env.Event) {
	if !r.records[l] {
		return
	}
	t := &r.turns[l]
	t.Loop, t.Now, t.Events = l, now, t.Events[:0]
	for i := range in {
		t.Events = append(t.Events, pack(&in[i]))
	}
	r.packed[l] = appendTurn(r.packed[l][:0], t)
}

// Turned implements node.Tap: it writes the turn with the hash of its effects behind it.
func (r *Recorder) Turned(l node.LoopID, out *env.Effects) {
	if !r.records[l] {
		return
	}
	hash := r.hashers[l].effects(out)
	line := append(r.packed[l], hash[:]...)
	r.packed[l] = line
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(line)))
	if _, r.err = r.w.Write(size[:]); r.err == nil {
		_, r.err = r.w.Write(line)
	}
}

// Close writes what is buffered and returns the first error of the recording.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.w.Flush(); r.err == nil && err != nil {
		r.err = err
	}
	if r.err != nil {
		return fmt.Errorf("recording: %w", r.err)
	}
	return nil
}
