package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/core/broker"
	"stet/core/kafka"
	"stet/node"
)

const threeControllers = "--controllers=1@h1:9093,2@h2:9093,3@h3:9093"

func TestANodeWithoutControllersIsItsOwn(t *testing.T) {
	_, config := settle(t, "", "--node-id=7", "--advertise=b:1")
	require.Equal(t, node.Roles{Broker: true, Controller: true}, config.Roles)
	require.Equal(t, []kafka.ControllerAddress{{Node: 7}}, config.Broker.Controllers)
	require.Empty(t, config.Controller.Controllers)
	require.Equal(t, []broker.Listener{{Name: "PLAINTEXT", Host: "b", Port: 1}}, config.Broker.Listeners)
}

func TestANodeOfTheListIsAControllerAtItsEntry(t *testing.T) {
	_, config := settle(t, "", threeControllers, "--node-id=2")
	require.Equal(t, node.Roles{Broker: true, Controller: true}, config.Roles)
	require.Equal(t, "h2:9093", config.Controller.Advertise)
	require.Len(t, config.Controller.Controllers, 3)
	require.Equal(t, []kafka.ControllerAddress{{Node: 1, Addr: "h1:9093"}, {Node: 2}, {Node: 3, Addr: "h3:9093"}},
		config.Broker.Controllers, "its own is in the same process")

	_, config = settle(t, "", threeControllers, "--node-id=4")
	require.Equal(t, node.Roles{Broker: true}, config.Roles)
	require.Len(t, config.Broker.Controllers, 3)

	_, config = settle(t, "roles: controller\n", threeControllers, "--node-id=3")
	require.Equal(t, node.Roles{Controller: true}, config.Roles)
	require.Empty(t, config.Broker.Listeners)
}

func TestListenersGoByKafkasNames(t *testing.T) {
	_, config := settle(t, "", threeControllers, "--node-id=2",
		"--set=listeners=IN://10.0.0.2:9092,OUT://:9094,QUORUM://:9093",
		"--set=advertised.listeners=IN://b2:9092,OUT://kafka.example:9094",
		"--set=listener.security.protocol.map=IN:PLAINTEXT,OUT:PLAINTEXT,QUORUM:PLAINTEXT",
		"--set=inter.broker.listener.name=IN", "--set=controller.listener.names=QUORUM")
	require.Equal(t, []broker.Listener{
		{Name: "IN", Host: "b2", Port: 9092}, {Name: "OUT", Host: "kafka.example", Port: 9094},
	}, config.Broker.Listeners)
	require.Equal(t, "h2:9093", config.Controller.Advertise, "others know it by the list")
}

func TestTimesOfTheQuorumGoByKafkasNames(t *testing.T) {
	_, config := settle(t, "", "--set=controller.quorum.election.timeout.ms=2100",
		"--set=broker.session.timeout.ms=3000", "--set=broker.heartbeat.interval.ms=500",
		"--set=controller.quorum.auto.join.enable=false", "--set=num.partitions=5",
		"--set=default.replication.factor=3")
	ticks := time.Duration(config.Controller.Quorum.ElectionTicks)
	require.Equal(t, 2100*time.Millisecond, ticks*config.Controller.TickInterval)
	require.Equal(t, 3*time.Second, config.Controller.SessionTimeout)
	require.Equal(t, 500*time.Millisecond, config.Broker.HeartbeatInterval)
	_, patient := settle(t, "", "--set=broker.session.timeout.ms=60000")
	require.Equal(t, 2*time.Minute, patient.Broker.DuplicateTimeout, "longer than the session of a killed one")
	require.False(t, config.Controller.AutoJoin)
	require.EqualValues(t, 5, config.Controller.NumPartitions, "of topics whose creator leaves it open")
	require.EqualValues(t, 3, config.Controller.DefaultReplicationFactor)
}

func TestAllFaultsOfAClustersSettingsAreNamedAtOnce(t *testing.T) {
	err := serveWith(t, "", "--controllers=1@h1:0,1", "--roles=voter", "--node-id=-1",
		"--set=listeners=X", "--set=controller.quorum.election.timeout.ms=1",
		"--set=broker.heartbeat.interval.ms=9000", "--set=controller.quorum.auto.join.enable=perhaps")
	for _, part := range []string{
		"1@h1:0", `"1": give ID@HOST:PORT`, "setting roles: \"voter\"", "setting node-id",
		"setting listeners: \"X\": give NAME://host:port", "controller.quorum.election.timeout.ms",
		"broker.heartbeat.interval.ms: 9000: give at most half", "controller.quorum.auto.join.enable",
	} {
		require.ErrorContains(t, err, part)
	}
}

func TestListenersTakeThePlaceOfListen(t *testing.T) {
	err := serveWith(t, "", "--listen=127.0.0.1:1", "--advertise=h:1", "--set=listeners=PLAINTEXT://:2")
	require.ErrorContains(t, err, "setting listeners: leave out listen and advertise")
}

func TestAListenerOnEveryInterfaceHasToBeAdvertised(t *testing.T) {
	require.ErrorContains(t, serveWith(t, "", "--listen=0.0.0.0:1"), "setting advertise: 0.0.0.0:1 listens on every")
	require.ErrorContains(t, serveWith(t, "", "--set=listeners=PLAINTEXT://:1"), "setting advertise: :1 listens on every")
	_, config := settle(t, "", "--listen=:1", "--advertise=h:2")
	require.Equal(t, []broker.Listener{{Name: "PLAINTEXT", Host: "h", Port: 2}}, config.Broker.Listeners)
}
