// Package system is the only place where production's adapters are chosen: real clocks, files,
// sockets and goroutines under the same node that the simulator hosts.
package system

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"stet/core/env"
	"stet/core/kafka"
	"stet/diskio"
	"stet/node"
)

// stopTimeout bounds a clean stop; after it the process leaves as if killed.
const stopTimeout = 9 * time.Second

// Options is what a production node is started with.
type Options struct {
	Node        node.Config
	Directories []string              // data directories; index = DirID
	Clients     []kafka.NamedListener // of a broker; port 0 picks one
	// ControllerListen is host:port of the controller's listener. Without one, only the broker of
	// this process reaches it.
	ControllerListen string
	Logger           *slog.Logger
	Record           RecordFunc // nil: no recording
}

// RecordFunc is called with what a node is made of, before it starts, and returns the tap that
// writes its recording.
type RecordFunc func(seed [32]byte, config *node.Config, id env.Identity) (node.Tap, error)

// Started is what Serve reports when clients are answered.
type Started struct {
	Addr           string // of the first listener for clients; empty without the role of a broker
	ControllerAddr string // of the controller's listener, if there is one
	ClusterID      string
}

// Serve runs a node until ctx ends, then stops it cleanly. It calls started once requests are
// answered. The error says what is wrong and where; a clean stop returns nil.
func Serve(ctx context.Context, o Options, started func(Started)) error {
	o.Node.Broker.Directories, o.Node.Controller.Directory = o.Directories, o.Directories[0]
	d, err := raiseDescriptors(o.Logger)
	if err != nil {
		return err
	}
	if o.Node.MaxOpenFiles == 0 {
		o.Node.MaxOpenFiles = d.files
	}
	disk, err := diskio.Open(o.Directories)
	if err != nil {
		return err
	}
	defer disk.Close()
	l, err := listen(&o, d)
	if err != nil {
		return err
	}
	defer l.close()
	disk.OnError = func(op, path string, err error) {
		o.Logger.Error("disk", "op", op, "path", path, "err", err)
	}
	h := newHost(disk, o.Logger)
	defer h.close()
	n, err := assemble(&o, h)
	if err != nil {
		return err
	}
	n.Start()
	if l.controllers != nil {
		go l.controllers.Serve(n.ControllerListener())
	}
	return run(ctx, n, h, l, &o, started)
}

// assemble makes the node with fresh randomness and the machine's identity.
func assemble(o *Options, h *host) (*node.Node, error) {
	var seed [32]byte
	cryptorand.Read(seed[:])
	id, err := identity()
	if err != nil {
		return nil, err
	}
	var tap node.Tap
	if o.Record != nil {
		if tap, err = o.Record(seed, &o.Node, id); err != nil {
			return nil, err
		}
	}
	return node.New(&o.Node, h, id, Streams(seed), tap), nil
}

// run waits for the node to be ready, serves, and stops it.
func run(ctx context.Context, n *node.Node, h *host, l listeners, o *Options,
	started func(Started),
) error {
	done := ctx.Done()
	var deadline <-chan time.Time
	serving := false
	for {
		select {
		case s := <-h.changes:
			switch {
			case s.Fatal != nil:
				return s.Fatal
			case s.Stopped:
				return nil
			case s.Ready && s.ClusterID != "" && !serving: // a controller may have to wait for its quorum
				serving = true
				l.serve(n, o)
				started(Started{l.clientAddr(), addr(l.controllers), s.ClusterID})
			}
		case <-done:
			done = nil
			deadline = time.After(stopTimeout)
			l.closeClients()
			n.Stop()
		case <-deadline:
			return fmt.Errorf("stop: not complete after %v: the next start recovers the logs", stopTimeout)
		}
	}
}

// Streams returns independent ChaCha8 streams derived from seed, one for each use.
func Streams(seed [32]byte) func(env.Use) *rand.Rand {
	return func(use env.Use) *rand.Rand {
		s := seed
		binary.LittleEndian.PutUint64(s[24:], binary.LittleEndian.Uint64(s[24:])^uint64(use+1)<<32)
		return rand.New(rand.NewChaCha8(s))
	}
}

// identity reads the kernel's boot id and draws an id for this process.
func identity() (env.Identity, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return env.Identity{}, fmt.Errorf("boot id: %w", err)
	}
	id := env.Identity{BootID: strings.TrimSpace(string(boot))}
	cryptorand.Read(id.Incarnation[:])
	return id, nil
}
