package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"stet/bench/load"
)

// Cluster is nodes 1 to n of one cluster, each a process in its own part of a network.
type Cluster struct {
	*Network
	Nodes []*Broker // node i is Nodes[i-1]
}

const (
	clientPort     = 9092
	controllerPort = 9093
)

// NewCluster prepares n nodes without starting them, with data below dir. The command holds {dir},
// {node}, {host}, {listen}, which is {host}:9092, and {controllers}, a list of ID@HOST:9093.
func NewCluster(root, command, dir string, n int) (*Cluster, error) {
	network, err := NewNetwork(n)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Network: network}
	var controllers []string
	for i := 1; i <= n; i++ {
		address := net.JoinHostPort(network.Host(i), strconv.Itoa(controllerPort))
		controllers = append(controllers, fmt.Sprintf("%d@%s", i, address))
	}
	for i := 1; i <= n; i++ {
		data := filepath.Join(dir, fmt.Sprintf("node%d", i))
		b := &Broker{
			Address: net.JoinHostPort(network.Host(i), strconv.Itoa(clientPort)),
			Dir:     data, LogFile: data + ".log", root: root, dial: c.dialNode,
		}
		b.command = network.Run(i) + " " + strings.NewReplacer(
			"{dir}", data, "{node}", strconv.Itoa(i), "{listen}", b.Address, "{host}", network.Host(i),
			"{controllers}", strings.Join(controllers, ","),
		).Replace(command)
		c.Nodes = append(c.Nodes, b)
	}
	return c, nil
}

func (c *Cluster) dialNode(address string) (*load.Conn, error) {
	conn, err := c.DialContext(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	return load.NewConn(conn), nil
}

// addresses are where clients find the nodes.
func (c *Cluster) addresses() (all []string) {
	for _, b := range c.Nodes {
		all = append(all, b.Address)
	}
	return all
}

// Launch starts all nodes that do not run.
func (c *Cluster) Launch() error {
	var failures []error
	for _, b := range c.Nodes {
		if !b.Running() {
			failures = append(failures, b.Launch())
		}
	}
	return errors.Join(failures...)
}

// Stop stops all nodes that run, at the same time.
func (c *Cluster) Stop() error {
	failures := make([]error, len(c.Nodes))
	var stopping sync.WaitGroup
	for i, b := range c.Nodes {
		if !b.Running() {
			continue
		}
		stopping.Go(func() {
			if err := b.Stop(); err != nil {
				failures[i] = fmt.Errorf("node %d: %w", i+1, err)
			}
		})
	}
	stopping.Wait()
	return errors.Join(failures...)
}

// Close kills what runs and removes the network.
func (c *Cluster) Close() error {
	var failures []error
	for _, b := range c.Nodes {
		if b.Running() {
			failures = append(failures, b.Kill())
		}
	}
	return errors.Join(append(failures, c.Network.Close())...)
}
