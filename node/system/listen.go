package system

import (
	"net"

	"stet/core/broker"
	"stet/core/kafka"
	"stet/netio"
	"stet/node"
)

// controllerConns bounds the connections to the controller's listener: nodes and a few tools.
const controllerConns = 1000

// listeners are what a node is reached by.
type listeners struct {
	clients     []*netio.Listener // as Options has them
	controllers *netio.Listener   // nil: none
}

// listen opens the listeners that the node's roles have, and fills in the addresses that clients are
// told.
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
		network.MaxConns = d.conns / max(1, len(o.Clients))
		o.Node.Broker.Listeners = nil
		for i := range o.Clients {
			c := &o.Clients[i]
			one, err := network.Listen(c.Bind)
			if err != nil {
				l.close()
				return l, err
			}
			one.TurnAway() // until the node is ready
			l.clients = append(l.clients, one)
			o.Node.Broker.Listeners = append(o.Node.Broker.Listeners, advertised(c, one))
		}
	}
	return l, nil
}

// advertised is what clients are told of a listener: what it is given, and where that says nothing,
// the address that it came to have.
func advertised(c *kafka.NamedListener, l *netio.Listener) broker.Listener {
	told := broker.Listener{Name: c.Name, Host: c.Host, Port: c.Port}
	actual := l.Addr().(*net.TCPAddr)
	if told.Host == "" {
		told.Host = actual.IP.String()
	}
	if told.Port == 0 {
		told.Port = int32(actual.Port)
	}
	return told
}

// serve lets clients in, each by the acceptor of the listener that they use.
func (l listeners) serve(n *node.Node, o *Options) {
	for i, one := range l.clients {
		one.LetIn()
		go one.Serve(n.Listener(o.Clients[i].Name))
	}
}

// closeClients lets no more clients in; those that are in stay.
func (l listeners) closeClients() {
	for _, one := range l.clients {
		one.Close()
	}
}

// close ends the listeners and their connections.
func (l listeners) close() {
	for _, one := range append(l.clients, l.controllers) {
		if one != nil {
			one.Close()
			one.CloseConns()
		}
	}
}

// clientAddr is where the first listener for clients listens, "" for none.
func (l listeners) clientAddr() string {
	if len(l.clients) == 0 {
		return ""
	}
	return addr(l.clients[0])
}

// addr is where a listener listens, "" for none.
func addr(l *netio.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}
