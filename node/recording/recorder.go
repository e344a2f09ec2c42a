package recording

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
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
	Seed   string `json:"seed"`  // of the node's randomness, hex
	Setup  string `json:"setup"` // configuration and identity, hex of the deep codec
}

// setup is what a node was made of.
type setup struct {
	Config   node.Config
	Identity env.Identity
}

// Recorder writes turns as they happen. It implements node.Tap; both loops share it.
type Recorder struct {
	mu     sync.Mutex
	w      *bufio.Writer
	hasher hasher
	line   []byte
	err    error
}

// NewRecorder starts a recording on w of a node that is made of these parts.
func NewRecorder(w io.Writer, seed [32]byte, c *node.Config, id env.Identity) (*Recorder, error) {
	r := &Recorder{w: bufio.NewWriterSize(w, 1<<16)}
	first, err := json.Marshal(header{
		Stet: "record", Format: formatVersion, Seed: hex.EncodeToString(seed[:]),
		Setup: hex.EncodeToString(appendDeep(nil, reflect.ValueOf(&setup{*c, id}).Elem())),
	})
	if err != nil {
		return nil, err
	}
	_, err = r.w.Write(append(first, '\n'))
	return r, err
}

// Turned implements node.Tap.
func (r *Recorder) Turned(l node.LoopID, now env.Now, in []env.Event, out *env.Effects) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	t := turn{Loop: l, Now: now, Hash: r.hasher.effects(out), Events: make([]event, len(in))}
	for i := range in {
		t.Events[i] = pack(&in[i])
	}
	r.line = appendTurn(r.line[:0], &t)
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(r.line)))
	if _, r.err = r.w.Write(size[:]); r.err == nil {
		_, r.err = r.w.Write(r.line)
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
