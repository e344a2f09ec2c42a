package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Network is a network of its own: a namespace for each node, joined by a bridge in one more, which
// is where clients dial from. Nothing of it is seen by the machine's network, and it goes with
// Close. It needs root, iproute2 and a kernel that permits namespaces, and nothing else.
type Network struct {
	hub   string // name of the namespace with the bridge
	nodes []string
}

// NewNetwork makes namespaces for nodes 1 to n. The error says what is not permitted or missing.
func NewNetwork(n int) (*Network, error) {
	w := &Network{hub: fmt.Sprintf("stet-%d", os.Getpid())}
	steps := [][]string{
		{"netns", "add", w.hub},
		{"-n", w.hub, "link", "set", "lo", "up"},
		{"-n", w.hub, "link", "add", "bridge", "type", "bridge"},
		{"-n", w.hub, "addr", "add", hubAddress + "/24", "dev", "bridge"},
		{"-n", w.hub, "link", "set", "bridge", "up"},
	}
	for i := 1; i <= n; i++ {
		name := fmt.Sprintf("%s-%d", w.hub, i)
		w.nodes = append(w.nodes, name)
		steps = append(
			steps,
			[]string{"netns", "add", name},
			[]string{"-n", name, "link", "set", "lo", "up"},
			[]string{"-n", w.hub, "link", "add", port(i), "type", "veth", "peer", "name", "eth0", "netns", name},
			[]string{"-n", w.hub, "link", "set", port(i), "master", "bridge", "up"},
			[]string{"-n", name, "addr", "add", w.Host(i) + "/24", "dev", "eth0"},
			[]string{"-n", name, "link", "set", "eth0", "up"},
		)
	}
	for _, step := range steps {
		if err := ip(step...); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

// port is the end of a node's link at the bridge.
func port(node int) string { return fmt.Sprintf("node%d", node) }

const hubAddress = "10.77.0.254"

// Host is the address of a node.
func (w *Network) Host(node int) string { return fmt.Sprintf("10.77.0.%d", node) }

// Run is what a command line starts with to run as a node; the process id is the command's.
func (w *Network) Run(node int) string { return "ip netns exec " + w.nodes[node-1] }

// Cut drops what from sends to to, until Heal: a one-way loss. What is lost is lost without a word
// to the receiver; a new connection is refused to the sender.
func (w *Network) Cut(from, to int) error {
	return ip("-n", w.nodes[from-1], "route", "replace", "blackhole", w.Host(to)+"/32")
}

// Down takes a node off the network, for nodes and clients alike, until Heal.
func (w *Network) Down(node int) error {
	return ip("-n", w.hub, "link", "set", port(node), "down")
}

// Heal mends all that Cut and Down cut.
func (w *Network) Heal() error {
	var failures []error
	for i, name := range w.nodes {
		failures = append(failures, ip("-n", name, "route", "flush", "type", "blackhole"),
			ip("-n", w.hub, "link", "set", port(i+1), "up"))
	}
	return errors.Join(failures...)
}

// Close removes the namespaces.
func (w *Network) Close() error {
	var failures []error
	for _, name := range append([]string{w.hub}, w.nodes...) {
		if _, err := os.Stat(namespacePath(name)); err == nil {
			failures = append(failures, ip("netns", "del", name))
		}
	}
	return errors.Join(failures...)
}

// DialContext connects from the bridge. It has the signature that franz-go asks for.
func (w *Network) DialContext(ctx context.Context, network, address string) (conn net.Conn, err error) {
	failure := within(w.hub, func() { conn, err = dialer.DialContext(ctx, network, address) })
	return conn, errors.Join(failure, err)
}

// dialer makes its sockets on the thread that calls it: addresses need no lookup, and it tries one.
var dialer = net.Dialer{Timeout: 2 * time.Second, FallbackDelay: -1}

// within runs f in a namespace. A socket belongs to the one that its thread was in when it was
// made, wherever it is used.
func within(namespace string, f func()) error {
	handle, err := os.Open(namespacePath(namespace))
	if err != nil {
		return err
	}
	defer handle.Close()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		err := unix.Setns(int(handle.Fd()), unix.CLONE_NEWNET)
		if err == nil {
			f()
		}
		done <- err
	}()
	return <-done
}

func namespacePath(name string) string { return filepath.Join("/run/netns", name) }

// ip runs iproute2's command.
func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
