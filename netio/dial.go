package netio

import (
	"context"
	"fmt"
	"net"

	"stet/core/env"
)

// Errno puts the error of a dial into the closed set of the core.
func Errno(err error) env.Errno { return toErrno(err) }

// Dial connects to host:port and hands the connection to the acceptor, as if it had come in. The
// connection then belongs to what Accept returned.
func (c Config) Dial(ctx context.Context, address string, acceptor env.Acceptor) error {
	config := c.filled()
	dialer := net.Dialer{Control: config.control}
	dialed, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	conn, err := newConn(config, dialed.(*net.TCPConn))
	if err != nil {
		dialed.Close()
		return fmt.Errorf("dial %s: %w", address, err)
	}
	conn.reader = acceptor.Accept(conn, env.ConnInfo{Principal: anonymous, Remote: conn.remote})
	if conn.reader == nil {
		conn.end(env.OK)
		return nil
	}
	go conn.run()
	return nil
}
