package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/env/envtest"
	"stet/node"
)

func TestSimulationKeepsTheLawsOfAWorld(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			envtest.Run(t, func(t *testing.T) envtest.Harness { return newHarness(t, seed) })
		})
	}
}

// harness is the simulation around a scripted loop.
type harness struct {
	s         *Scheduler
	network   *Network
	host      *host
	loop      *node.Loop
	script    *envtest.Script
	turns     int
	addresses int   // of Listen
	owner     Owner // of the test's own disk calls and connections
	mount     env.Disk
}

func newHarness(t *testing.T, seed uint64) *harness {
	s := newTestScheduler(t)
	faults, entropy := NewFaultLog(s.Trace()), NewEntropy(seed)
	disk := NewDisk(s, faults, entropy.Stream("disk", 1), 1, 1)
	h := &harness{
		s: s, network: NewNetwork(s, faults, entropy.Stream("network", 0)),
		script: &envtest.Script{}, owner: s.NewOwner(ClientPlace),
	}
	h.script.Told = func() { h.turns++ }
	pace := DefaultPace()
	server := s.NewOwner(1)
	h.host = newHost(h.network, server, NewClock(s, 1), disk, entropy.Stream("scheduling", 1), &pace)
	h.mount = disk.Mount(h.owner)
	h.loop = node.NewLoop(node.BrokerLoop, h.script, h.host, nil)
	h.network.Listen(server, "n1:9092",
		node.NewAcceptor(h.loop, node.NewMemory(1<<20), "PLAINTEXT", 1<<20))
	return h
}

func (h *harness) Perform(e *env.Effects) {
	h.script.Ask(e)
	h.loop.Tick(h.host)
	for before := h.turns; h.turns == before; {
		h.s.Step()
	}
}

func (h *harness) Next(t *testing.T) env.Event {
	t.Helper()
	for {
		if ev, ok := h.script.Take(); ok {
			return ev
		}
		if !h.s.Step() {
			t.Fatal("no event can come")
		}
	}
}

func (h *harness) Disk() env.Disk { return inTasks{h} }

// run runs f as a task to its end.
func (h *harness) run(f func()) {
	h.s.Spawn(0, h.owner, "test", f)
	for h.s.TaskCount(h.owner) > 0 {
		h.s.Step()
	}
}

// inTasks makes disk calls for a test, each in a task of its own.
type inTasks struct{ h *harness }

func (d inTasks) Open(p env.Path, flag env.OpenFlag) (f env.File, err env.Errno) {
	d.h.run(func() { f, err = d.h.mount.Open(p, flag) })
	return fileInTasks{f, d.h}, err
}

func (d inTasks) Rename(from, to env.Path) (err env.Errno) {
	d.h.run(func() { err = d.h.mount.Rename(from, to) })
	return err
}

func (d inTasks) Remove(p env.Path) (err env.Errno) {
	d.h.run(func() { err = d.h.mount.Remove(p) })
	return err
}

func (d inTasks) Mkdir(p env.Path) (err env.Errno) {
	d.h.run(func() { err = d.h.mount.Mkdir(p) })
	return err
}

func (d inTasks) List(p env.Path) (entries []env.DirEntry, err env.Errno) {
	d.h.run(func() { entries, err = d.h.mount.List(p) })
	return entries, err
}

func (d inTasks) SyncDir(p env.Path) (err env.Errno) {
	d.h.run(func() { err = d.h.mount.SyncDir(p) })
	return err
}

type fileInTasks struct {
	env.File
	h *harness
}

func (f fileInTasks) WriteAt(bufs [][]byte, off int64) (n int64, err env.Errno) {
	f.h.run(func() { n, err = f.File.WriteAt(bufs, off) })
	return n, err
}

func (f fileInTasks) ReadAt(p []byte, off int64) (n int, err env.Errno) {
	f.h.run(func() { n, err = f.File.ReadAt(p, off) })
	return n, err
}

func (f fileInTasks) Sync() (err env.Errno) {
	f.h.run(func() { err = f.File.Sync() })
	return err
}

func (f fileInTasks) Truncate(size int64) (err env.Errno) {
	f.h.run(func() { err = f.File.Truncate(size) })
	return err
}

func (h *harness) Dial(*testing.T) envtest.Peer {
	p := &contractPeer{h: h, peer: &peer{s: h.s}}
	p.peer.w = h.network.Dial(h.owner, 1, "n1:9092", p.peer)
	return p
}

// Listen opens another address of the peers' machine.
func (h *harness) Listen(*testing.T) (addr string, accept func(*testing.T) envtest.Peer) {
	h.addresses++
	addr = fmt.Sprint("c0:", h.addresses)
	l := &contractListener{h: h}
	h.network.Name(addr, ClientPlace)
	h.network.Listen(h.owner, addr, l)
	return addr, func(t *testing.T) envtest.Peer {
		for len(l.accepted) == 0 {
			require.True(t, h.s.Step(), "no link can come")
		}
		p := l.accepted[0]
		l.accepted = l.accepted[1:]
		return p
	}
}

func (h *harness) Nobody(*testing.T) string {
	h.network.Name("c0:0", ClientPlace)
	return "c0:0"
}

// contractListener keeps the links that come in.
type contractListener struct {
	h        *harness
	accepted []*contractPeer
}

func (l *contractListener) Accept(w env.ConnWriter, _ env.ConnInfo) env.ConnReader {
	p := &contractPeer{h: l.h, peer: &peer{s: l.h.s, w: w, refuse: 1}}
	l.accepted = append(l.accepted, p)
	return p.peer
}

// contractPeer is the other end of a connection of the loop.
type contractPeer struct {
	h    *harness
	peer *peer
	read int
}

func (p *contractPeer) Send(t *testing.T, frame []byte) { sendFrame(t, p.peer.w, string(frame)) }

func (p *contractPeer) Receive(t *testing.T) ([]byte, bool) {
	t.Helper()
	p.peer.refuse = 0
	p.peer.w.Resume()
	for p.read == len(p.peer.frames) {
		if len(p.peer.closed) > 0 {
			return nil, false
		}
		require.True(t, p.h.s.Step(), "no frame can come")
	}
	p.read++
	return []byte(p.peer.frames[p.read-1]), true
}

func (p *contractPeer) Close() { p.peer.w.Close() }
