package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
)

func TestControllersAreAListOfIDsAtAddresses(t *testing.T) {
	list, err := parseControllers("1@h1:9093, 2@[::1]:9093,30@10.0.0.1:1")
	require.NoError(t, err)
	require.Equal(t, []kafka.ControllerAddress{
		{Node: 1, Addr: "h1:9093"}, {Node: 2, Addr: "[::1]:9093"}, {Node: 30, Addr: "10.0.0.1:1"},
	}, list)
	list, err = parseControllers("")
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestAllFaultsOfControllersAreNamedAtOnce(t *testing.T) {
	wrong := []string{"h0:1", "-1@h1:1", "x@h2:1", "2@h3", "2@h4:0", "2@h5:65536", "2@:1", "7@h6:1", "8@h:1"}
	list, err := parseControllers("7@h:1,7@i:2,8@h:1," + "h0:1,-1@h1:1,x@h2:1,2@h3,2@h4:0,2@h5:65536,2@:1,7@h6:1,,9@k:1")
	for _, item := range wrong {
		require.ErrorContains(t, err, `"`+item+`"`)
	}
	require.ErrorContains(t, err, `"7@i:2"`)
	require.ErrorContains(t, err, `""`)
	require.Len(t, list, 2)
}

func TestRolesFollowFromTheListUnlessTheyAreGiven(t *testing.T) {
	own := &kafka.ControllerAddress{Node: 1, Addr: "h:1"}
	for _, c := range []struct {
		roles              string
		alone              bool
		listed             *kafka.ControllerAddress
		broker, controller bool
		fault              string
	}{
		{roles: "", alone: true, broker: true, controller: true},
		{roles: "", listed: own, broker: true, controller: true},
		{roles: "", broker: true},
		{roles: "broker", listed: own, broker: true},
		{roles: "controller", listed: own, controller: true},
		{roles: "controller, broker", listed: own, broker: true, controller: true},
		{roles: "broker,controller", alone: true, broker: true, controller: true},
		{roles: "broker", alone: true, fault: "give controllers"},
		{roles: "controller", alone: true, fault: "give controllers"},
		{roles: "controller", fault: "give controllers an entry"},
		{roles: "voter", listed: own, fault: "voter"},
	} {
		broker, controller, err := nodeRoles(c.roles, c.alone, c.listed)
		if c.fault != "" {
			require.ErrorContains(t, err, c.fault, "%+v", c)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, []bool{c.broker, c.controller}, []bool{broker, controller}, "%+v", c)
	}
}
