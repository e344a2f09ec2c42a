package netio

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
)

var _ env.ConnWriter = (*conn)(nil)

// block is a buffer that notices when it is released more than once.
type block struct {
	b    []byte
	refs atomic.Int32
	live *atomic.Int32
}

func (b *block) Bytes() []byte { return b.b }
func (b *block) Retain()       { b.refs.Add(1) }
func (b *block) Release() {
	switch n := b.refs.Add(-1); {
	case n == 0:
		b.live.Add(-1)
	case n < 0:
		panic("a buffer was released twice")
	}
}

// node is a receiver that records what it is told. It accepts one connection after the other.
type node struct {
	live    atomic.Int32 // buffers that are not released
	writers chan env.ConnWriter
	frames  chan string
	ended   chan env.Errno
	reserve func(size int32) env.Verdict // optional
	deliver func(frame string) env.Verdict
	refuse  bool
	noInq   bool // as on a kernel without TCP_INQ
}

func newNode() *node {
	return &node{
		writers: make(chan env.ConnWriter, 10),
		frames:  make(chan string, 10_000),
		ended:   make(chan env.Errno, 10),
	}
}

func (n *node) Accept(w env.ConnWriter, info env.ConnInfo) env.ConnReader {
	if n.refuse {
		return nil
	}
	if n.noInq {
		w.(*conn).in.hasInq = false
	}
	n.writers <- w
	return n
}

func (n *node) Reserve(size int32) (env.Buffer, env.Verdict) {
	if n.reserve != nil {
		if v := n.reserve(size); v != env.Continue {
			return nil, v
		}
	}
	n.live.Add(1)
	b := &block{b: make([]byte, size), live: &n.live}
	b.refs.Store(1)
	return b, env.Continue
}

func (n *node) Deliver(frame env.Buffer) env.Verdict {
	defer frame.Release()
	got := string(frame.Bytes())
	n.frames <- got
	if n.deliver != nil {
		return n.deliver(got)
	}
	return env.Continue
}

func (n *node) Closed(err env.Errno) { n.ended <- err }

// serve starts a listener for n; everything is closed when the test ends.
func serve(t testing.TB, config Config, n *node) *Listener {
	config.Log = func(remote, what string, err error) { t.Log(remote, what, err) }
	l, err := config.Listen("127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		l.Serve(n)
		close(served)
	}()
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		<-served
		l.CloseConns()
		require.Zero(t, n.live.Load(), "buffers were not released")
	})
	return l
}

// connect opens a client's connection and returns the node's writer of it.
func connect(t testing.TB, l *Listener, n *node) (*net.TCPConn, env.ConnWriter) {
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn), <-n.writers
}

func framed(frames ...string) (b []byte) {
	for _, f := range frames {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

func write(t require.TestingT, c net.Conn, b []byte) {
	_, err := c.Write(b)
	require.NoError(t, err)
}

func readN(t require.TestingT, c net.Conn, n int) []byte {
	b := make([]byte, n)
	_, err := io.ReadFull(c, b)
	require.NoError(t, err)
	return b
}

// file is an env.File that only reads. With fd it has a Descriptor.
type file struct {
	env.File
	os *os.File
}

func (f *file) ReadAt(p []byte, off int64) (int, env.Errno) {
	n, err := f.os.ReadAt(p, off)
	if err != nil && err != io.EOF {
		return n, env.EIO
	}
	return n, env.OK
}

type fdFile struct {
	file
	mu     sync.Mutex
	loans  int
	closed bool
}

func (f *fdFile) Fd() (int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loans++
	return int(f.os.Fd()), !f.closed
}

func (f *fdFile) ReleaseFd() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loans--
}

// newFile makes a file of size bytes that differ from place to place.
func newFile(t testing.TB, size int) (*fdFile, []byte) {
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i ^ i>>8 ^ i>>16)
	}
	path := filepath.Join(t.TempDir(), "segment")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return &fdFile{file: file{os: f}}, bytes.Clone(content)
}

// dialPlain connects without any of the settings under test.
func dialPlain(address string) (net.Conn, error) { return net.Dial("tcp", address) }
