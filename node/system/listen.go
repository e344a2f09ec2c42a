package system

import (
	"fmt"
	"net"

	"stet/netio"
	"stet/node"
)

// controllerConns bounds the connections to the controller's listener: nodes and a few tools.
const controllerConns = 1000

// listeners are what a node is reached by; nil for those that its roles leave out.
type listeners struct{ clients, controllers *netio.Listener }

// listen opens the listeners, and fills in the address that clients are told.
func listen(o *Options, d descriptors) (l listeners, err error) {
	network := netio.Default()
	network.Log = func(remote, what string, err error) {
		o.Logger.Info("connection", "remote", remote, "what", what, "err", err)
	}
	if o.Node.Roles.Has(node.ControllerLoop) && o.ControllerListen != "" {
		network.MaxConns = min(controllerConns, d.conns/2)
		d.conns -= network.MaxConns
		if l.controllers, err = network.Listen(o.ControllerListen); err != nil {
			return l, err
		}
	}
	if o.Node.Roles.Has(node.BrokerLoop) {
		network.MaxConns = d.conns
		if l.clients, err = network.Listen(o.Listen); err == nil {
			err = advertise(o, addr(l.clients))
		}
	}
	if err != nil {
		l.close()
	}
	return l, err
}

// close ends the listeners and their connections.
func (l listeners) close() {
	for _, one := range []*netio.Listener{l.clients, l.controllers} {
		if one != nil {
			one.Close()
			one.CloseConns()
		}
	}
}

// addr is where a listener listens, "" for none.
func addr(l *netio.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

// advertise fills in the address that clients are told.
func advertise(o *Options, actual string) error {
	told := o.Advertise
	if told == "" {
		told = actual
	}
	host, port, err := net.SplitHostPort(told)
	if err != nil {
		return fmt.Errorf("advertise %q: %w: give host:port", told, err)
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return fmt.Errorf("advertise %q: %w: give host:port", told, err)
	}
	l := &o.Node.Broker.Listeners[0]
	l.Host, l.Port = host, int32(number)
	return nil
}
