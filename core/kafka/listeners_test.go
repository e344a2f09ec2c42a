package kafka

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListenersAreAdvertisedApart(t *testing.T) {
	s := ListenerSettings{
		Listeners:           "internal://10.0.0.1:9092, EXTERNAL://0.0.0.0:9094,CONTROLLER://:9093",
		AdvertisedListeners: "INTERNAL://b1.local:9092,EXTERNAL://kafka.example:19094",
		SecurityProtocolMap: "INTERNAL:PLAINTEXT,EXTERNAL:plaintext,CONTROLLER:PLAINTEXT",
		InterBrokerListener: "INTERNAL", ControllerListeners: "CONTROLLER",
		BrokerRole: true, ControllerRole: true,
	}
	plan, err := s.Parse()
	require.NoError(t, err)
	require.Equal(t, &ListenerPlan{
		Clients: []NamedListener{
			{"INTERNAL", "10.0.0.1:9092", "b1.local", 9092},
			{"EXTERNAL", "0.0.0.0:9094", "kafka.example", 19094},
		},
		Controllers: []NamedListener{{"CONTROLLER", ":9093", "", 9093}},
		InterBroker: "INTERNAL",
	}, plan)
}

func TestWithoutListenersThereIsThePlainOne(t *testing.T) {
	s := ListenerSettings{BrokerRole: true, ControllerRole: true, DefaultListenAddress: "127.0.0.1:0"}
	plan, err := s.Parse()
	require.NoError(t, err)
	require.Equal(t, []NamedListener{{"PLAINTEXT", "127.0.0.1:0", "127.0.0.1", 0}}, plan.Clients)
	require.Equal(t, "PLAINTEXT", plan.InterBroker)

	s = ListenerSettings{ControllerRole: true}
	plan, err = s.Parse()
	require.NoError(t, err)
	require.Equal(t, &ListenerPlan{}, plan)
}

func TestAnAddressOfIPv6StandsInBrackets(t *testing.T) {
	s := ListenerSettings{Listeners: "PLAINTEXT://[::]:9092", BrokerRole: true}
	plan, err := s.Parse()
	require.NoError(t, err)
	require.Equal(t, []NamedListener{{"PLAINTEXT", "[::]:9092", "", 9092}}, plan.Clients)
	host, port, err := SplitHostPort("[fe80::1]:80")
	require.NoError(t, err)
	require.Equal(t, "fe80::1", host)
	require.EqualValues(t, 80, port)
	require.Equal(t, "[fe80::1]:80", JoinHostPort(host, port))
	require.Equal(t, "h:1", JoinHostPort("h", 1))
	for _, wrong := range []string{"", "h", "h:", "h:x", "h:65536", "h:-1", "::1:80", "a b:1", "[::1:80"} {
		_, _, err := SplitHostPort(wrong)
		require.Error(t, err, wrong)
	}
}

func TestAllFaultsOfListenersAreNamedAtOnce(t *testing.T) {
	s := ListenerSettings{
		Listeners:           "A://h:1,A://h:2,B://h:1,C://h:3,D,S://h:5,CONTROLLER://h:6",
		AdvertisedListeners: "A://0.0.0.0:1,B://h:0,B://h:1,X://h:1,?",
		SecurityProtocolMap: "A:PLAINTEXT,B:PLAINTEXT,B:SSL,S:SSL,E:TLS,F,CONTROLLER:PLAINTEXT",
		InterBrokerListener: "controller", ControllerListeners: "CONTROLLER,OTHER",
		BrokerRole: true, ControllerRole: true,
	}
	_, err := s.Parse()
	require.EqualError(t, err, `listener.security.protocol.map: B is mapped twice
listener.security.protocol.map: "E:TLS": give one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL
listener.security.protocol.map: "F": give NAME:PROTOCOL
listeners: A is given twice
listeners: "B://h:1": the address is taken by another listener
listener.security.protocol.map: it does not say the protocol of listener C
listeners: "D": give NAME://host:port
listener.security.protocol.map: S:SSL: only PLAINTEXT is served so far
controller.listener.names: OTHER is not among the listeners
advertised.listeners: "A://0.0.0.0:1": nobody can connect to it: give a host and a port
advertised.listeners: "B://h:0": nobody can connect to it: give a host and a port
advertised.listeners: B is given twice
advertised.listeners: X is not among the listeners
advertised.listeners: "?": give NAME://host:port
advertised.listeners: it leaves out listener C
advertised.listeners: it leaves out listener S
inter.broker.listener.name: CONTROLLER is not among the listeners of the broker`)
}

func TestListenersOfARoleThatTheNodeLacksAreRefused(t *testing.T) {
	s := ListenerSettings{
		Listeners: "A://h:1,C://h:2", ControllerListeners: "C",
		SecurityProtocolMap: "A:PLAINTEXT,C:PLAINTEXT", ControllerRole: true,
	}
	_, err := s.Parse()
	require.ErrorContains(t, err, "listeners: A: the node is no broker")
	s.ControllerRole, s.BrokerRole = false, true
	_, err = s.Parse()
	require.ErrorContains(t, err, "listeners: C: the node is no controller")
	s = ListenerSettings{
		Listeners: "C://h:2", ControllerListeners: "C", BrokerRole: true,
		ControllerRole: true,
	}
	_, err = s.Parse()
	require.EqualError(t, err,
		"listeners: none is for clients: add one that controller.listener.names does not name")
	s = ListenerSettings{
		Listeners: "A://h:1,B://h:2", SecurityProtocolMap: "A:PLAINTEXT,B:PLAINTEXT",
		BrokerRole: true,
	}
	_, err = s.Parse()
	require.EqualError(t, err,
		"inter.broker.listener.name: give it: there are several listeners and none is PLAINTEXT")
}
