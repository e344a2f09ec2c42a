package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"stet/core/kafka"
)

// parseControllers reads --controllers, a list of ID@HOST:PORT with commas. It names all faults at
// once and returns the entries that have none, in the order given.
func parseControllers(text string) ([]kafka.ControllerAddress, error) {
	if text == "" {
		return nil, nil
	}
	var list []kafka.ControllerAddress
	var faults []error
	for item := range strings.SplitSeq(text, ",") {
		entry, err := parseController(strings.TrimSpace(item))
		same := func(e kafka.ControllerAddress) bool {
			return e.Node == entry.Node || e.Addr == entry.Addr
		}
		if err == nil && slices.ContainsFunc(list, same) {
			err = errors.New("its id or its address is there twice")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("setting controllers: %q: %w", item, err))
			continue
		}
		list = append(list, entry)
	}
	return list, errors.Join(faults...)
}

func parseController(item string) (kafka.ControllerAddress, error) {
	var none kafka.ControllerAddress
	id, addr, ok := strings.Cut(item, "@")
	node, err := strconv.ParseInt(id, 10, 32)
	if !ok || err != nil || node < 0 {
		return none, errors.New("give ID@HOST:PORT, with commas between")
	}
	host, port, err := net.SplitHostPort(addr)
	number, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" || wrong != nil || number == 0 {
		return none, errors.New("give ID@HOST:PORT, with a port from 1 to 65535")
	}
	return kafka.ControllerAddress{Node: kafka.BrokerID(node), Addr: addr}, nil
}

// nodeRoles says what a node does: what --roles says, else a broker's work, and a controller's too
// if the node is listed or there is no list. Listed is the node's own entry, or nil.
func nodeRoles(
	text string, alone bool, listed *kafka.ControllerAddress,
) (broker, controller bool, err error) {
	if text == "" {
		return true, alone || listed != nil, nil
	}
	for role := range strings.SplitSeq(text, ",") {
		switch strings.TrimSpace(role) {
		case "broker":
			broker = true
		case "controller":
			controller = true
		default:
			return false, false, fmt.Errorf("setting roles: %q: give broker, controller or both", role)
		}
	}
	switch {
	case alone && !(broker && controller):
		err = fmt.Errorf("setting roles: %s: give controllers, to say where they are", text)
	case controller && !alone && listed == nil:
		err = errors.New("setting roles: controller: give controllers an entry with this node's id")
	}
	return broker, controller, err
}
