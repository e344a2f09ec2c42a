package netio

import (
	"sync/atomic"
	"time"
)

// Config holds the settings of connections. Use Default and change what must differ.
type Config struct {
	// SendBufferBytes and ReceiveBufferBytes cap what the kernel holds of one connection; 0 leaves
	// it to the kernel, which may take 4 MB and 32 MB.
	SendBufferBytes, ReceiveBufferBytes int
	// Stall is how long a peer may make no progress in taking bytes, or within a frame that it
	// sends, before the connection is closed. Between frames it may be silent for ever.
	Stall time.Duration
	// MaxConns bounds the connections of a listener; one more is closed at once. 0 is no bound.
	MaxConns int
	// Congestion is the name of a TCP congestion control, used where the kernel has it.
	Congestion string
	// Log, if set, is told of accept failures and why connections were closed. It is called from
	// any goroutine.
	Log func(remote, what string, err error)
	// Counters, if set, count what all connections of this Config do.
	Counters *Counters
}

// Default returns the settings for brokers. BBR, a common default of the kernel, halves the
// throughput of loopback and doubles its cost.
func Default() Config {
	return Config{
		SendBufferBytes:    1 << 20,
		ReceiveBufferBytes: 1 << 20,
		Stall:              30 * time.Second,
		Congestion:         "cubic",
	}
}

// Counters add up over connections.
type Counters struct {
	Opened, Closed atomic.Int64 // connections
	Refused        atomic.Int64 // connections beyond MaxConns
	AcceptFailures atomic.Int64 // accept calls that failed, for want of descriptors mostly
	Reads, Writes  atomic.Int64 // system calls, without sendfile
	ReceivedBytes  atomic.Int64
	SendfileBytes  atomic.Int64 // of ranges, sent without a copy
	RangeCopyBytes atomic.Int64 // of ranges, copied through user space
	HeadBytes      atomic.Int64 // of parts that were bytes
}

// filled returns c with everything that is optional.
func (c Config) filled() *Config {
	if c.Log == nil {
		c.Log = func(string, string, error) {}
	}
	if c.Counters == nil {
		c.Counters = new(Counters)
	}
	return &c
}
