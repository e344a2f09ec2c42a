package kafka

// ControllerAddress is where a controller answers: its node id, and host:port of its controller
// listener. An empty Addr is the other loop of this process.
type ControllerAddress struct {
	Node BrokerID
	Addr string
}
