package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"stet/core/broker"
	"stet/core/kafka"
	"stet/node"
)

// clusterConfig fills in what the node does and where it finds its controllers: roles, controllers
// and listeners. It names all faults at once.
func clusterConfig(c *node.Config, f *serveFlags, l *kafka.ListenerSettings) (*kafka.ListenerPlan, error) {
	list, wrong := parseControllers(f.Controllers)
	var listed *kafka.ControllerAddress
	for i := range list {
		if list[i].Node == c.Broker.NodeID {
			listed = &list[i]
		}
	}
	isBroker, isController, err := nodeRoles(f.Roles, f.Controllers == "", listed)
	if wrong != nil || err != nil {
		isBroker, isController = true, true // to go on judging: what follows from roles is not told
	}
	c.Roles = node.Roles{Broker: isBroker, Controller: isController}
	c.Controller.Controllers = list
	if listed != nil && isController {
		c.Controller.Advertise = listed.Addr
	}
	c.Broker.Controllers = brokersControllers(list, c.Broker.NodeID, isController)
	plan, refused := listenerPlan(f, l, c.Roles)
	if plan != nil {
		c.Broker.Listeners, c.Broker.InterBroker = nil, plan.InterBroker
		for _, client := range plan.Clients {
			c.Broker.Listeners = append(c.Broker.Listeners,
				broker.Listener{Name: client.Name, Host: client.Host, Port: client.Port})
		}
	}
	return plan, errors.Join(wrong, err, refused)
}

// brokersControllers is where a broker finds its controllers: the one in its own process without an
// address.
func brokersControllers(
	list []kafka.ControllerAddress, node kafka.BrokerID, inside bool,
) []kafka.ControllerAddress {
	if len(list) == 0 {
		return []kafka.ControllerAddress{{Node: node}}
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i].Node == node && inside {
			list[i].Addr = ""
		}
	}
	return list
}

// listenerPlan judges the settings about listeners. Without Kafka's names the flags say what there
// is: one listener for clients, and the node's own entry among the controllers.
func listenerPlan(f *serveFlags, l *kafka.ListenerSettings, roles node.Roles) (*kafka.ListenerPlan, error) {
	s := *l
	s.BrokerRole, s.ControllerRole, s.DefaultListenAddress = roles.Broker, roles.Controller, f.Listen
	switch {
	case s.Listeners != "" && (f.Listen != defaultListen || f.Advertise != ""):
		return nil, errors.New("setting listeners: leave out listen and advertise: it says both")
	case s.Listeners == "":
		_, _, wrong := kafka.SplitHostPort(f.Listen)
		if err := named("listen", wrong); err != nil {
			return nil, err
		}
		if f.Advertise != "" && s.AdvertisedListeners == "" && roles.Broker {
			s.AdvertisedListeners = "PLAINTEXT://" + f.Advertise
			host, port, wrong := kafka.SplitHostPort(f.Advertise)
			if wrong == nil && (host == "" || port == 0) {
				wrong = fmt.Errorf("%q: nobody can connect to it: give a host and a port", f.Advertise)
			}
			if err := named("advertise", wrong); err != nil {
				return nil, err
			}
		}
	}
	plan, err := s.Parse()
	if err != nil {
		var faults []error
		for _, fault := range err.(interface{ Unwrap() []error }).Unwrap() {
			faults = append(faults, fmt.Errorf("setting %w", fault))
		}
		return nil, errors.Join(faults...)
	}
	var faults []error
	if len(plan.Controllers) > 1 {
		faults = append(faults, errors.New("setting controller.listener.names: give one"))
	}
	for _, c := range plan.Clients {
		if c.Host == "" {
			faults = append(faults, fmt.Errorf("setting advertise: %s listens on every interface: "+
				"say where clients find it, here or by advertised.listeners", c.Bind))
		}
	}
	return plan, errors.Join(faults...)
}

// named puts the name of a setting before what is wrong with it, if anything is.
func named(setting string, wrong error) error {
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("setting %s: %w", setting, wrong)
}

// setClusterName applies a setting of listeners or of the quorum under Kafka's name; known says
// whether it is one.
func setClusterName(c *node.Config, l *kafka.ListenerSettings, name, value string) (known bool, err error) {
	switch name {
	case "listeners":
		l.Listeners = value
	case "advertised.listeners":
		l.AdvertisedListeners = value
	case "listener.security.protocol.map":
		l.SecurityProtocolMap = value
	case "inter.broker.listener.name":
		l.InterBrokerListener = value
	case "controller.listener.names":
		l.ControllerListeners = value
	case "controller.quorum.auto.join.enable":
		err = setBool(&c.Controller.AutoJoin, value)
	case "controller.quorum.election.timeout.ms":
		err = setElectionTimeout(c, value)
	case "broker.session.timeout.ms":
		err = setMilliseconds(&c.Controller.SessionTimeout, value, 100)
	case "broker.heartbeat.interval.ms":
		err = setMilliseconds(&c.Broker.HeartbeatInterval, value, 10)
	default:
		return false, nil
	}
	return true, err
}

// setElectionTimeout sets the interval of raft's clock: the timeout is a number of its ticks.
func setElectionTimeout(c *node.Config, value string) error {
	var timeout time.Duration
	if err := setMilliseconds(&timeout, value, 50); err != nil {
		return err
	}
	c.Controller.TickInterval = timeout / time.Duration(c.Controller.Quorum.ElectionTicks)
	return nil
}

func setMilliseconds(to *time.Duration, value string, least int64) error {
	var n int64
	err := setInt(&n, value, least, int64(24*time.Hour/time.Millisecond))
	if err == nil {
		*to = time.Duration(n) * time.Millisecond
	}
	return err
}

// judgeTimes refuses heartbeats so rare that one that is late costs the session. A broker that was
// killed has to put up with its own former session when it comes back.
func judgeTimes(c *node.Config) error {
	beat, session := c.Broker.HeartbeatInterval, c.Controller.SessionTimeout
	c.Broker.DuplicateTimeout = max(c.Broker.DuplicateTimeout, 2*session)
	if 2*beat > session {
		return fmt.Errorf("setting broker.heartbeat.interval.ms: %d: "+
			"give at most half of broker.session.timeout.ms, which is %d",
			beat.Milliseconds(), session.Milliseconds())
	}
	return nil
}
