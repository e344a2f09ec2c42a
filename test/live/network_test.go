//go:build live

package live

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newNetwork makes a network, or skips the test where it is not permitted.
func newNetwork(t *testing.T, nodes int) *Network {
	t.Helper()
	w, err := NewNetwork(nodes)
	if err != nil {
		t.Skipf("SKIPPED: network namespaces: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

// TestClusterCutsLoseWhatOneNodeSendsToAnother makes sure that the faults of links are what they are
// called: one way, between two nodes only, without an end of the connections that stand.
func TestClusterCutsLoseWhatOneNodeSendsToAnother(t *testing.T) {
	w := newNetwork(t, 2)
	address := net.JoinHostPort(w.Host(1), "7000")
	var listener net.Listener
	var err error
	require.NoError(t, within(w.nodes[0], func() { listener, err = net.Listen("tcp", address) }))
	require.NoError(t, err)
	defer listener.Close()
	accepted := make(chan net.Conn, 10)
	go func() {
		for c, err := listener.Accept(); err == nil; c, err = listener.Accept() {
			accepted <- c
		}
	}()
	dial := func() (conn net.Conn, err error) {
		require.NoError(t, within(w.nodes[1], func() {
			d := net.Dialer{Timeout: 300 * time.Millisecond}
			conn, err = d.Dial("tcp", address)
		}))
		return conn, err
	}
	standing, err := dial()
	require.NoError(t, err)
	defer standing.Close()
	server := <-accepted
	defer server.Close()
	hears := func(to net.Conn, within time.Duration) bool {
		var b [1]byte
		require.NoError(t, to.SetReadDeadline(time.Now().Add(within)))
		n, _ := to.Read(b[:])
		return n == 1
	}
	say := func(from net.Conn) {
		_, err := from.Write([]byte("x"))
		require.NoError(t, err)
	}

	require.NoError(t, w.Cut(2, 1))
	say(standing)
	require.False(t, hears(server, 300*time.Millisecond), "what 2 says is lost")
	say(server)
	require.True(t, hears(standing, time.Second), "what 1 says arrives")
	_, err = dial()
	require.Error(t, err)
	client, err := w.DialContext(context.Background(), "tcp", address)
	require.NoError(t, err, "clients are not cut off")
	defer client.Close()
	require.NoError(t, w.Heal())
	require.True(t, hears(server, 5*time.Second), "the connection has lasted")

	require.NoError(t, w.Cut(1, 2))
	say(standing)
	require.True(t, hears(server, time.Second), "what 2 says arrives")
	say(server)
	require.False(t, hears(standing, 300*time.Millisecond), "what 1 says is lost")
	_, err = dial()
	require.ErrorContains(t, err, "timeout", "a connection takes both ways")
	require.NoError(t, w.Heal())
	again, err := dial()
	require.NoError(t, err)
	again.Close()
}
