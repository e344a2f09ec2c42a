package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ListenerSettings are the settings about listeners as they were given, under Kafka's names. An empty
// one was not given.
type ListenerSettings struct {
	Listeners            string // listeners: NAME://host:port,... ; an empty host binds to all
	AdvertisedListeners  string // advertised.listeners: likewise, what clients are told
	SecurityProtocolMap  string // listener.security.protocol.map: NAME:PROTOCOL,...
	InterBrokerListener  string // inter.broker.listener.name
	ControllerListeners  string // controller.listener.names: NAME,...
	BrokerRole           bool   // the node is a broker
	ControllerRole       bool   // the node is a controller
	DefaultListenAddress string // host:port of the listener PLAINTEXT of a broker without listeners
}

// NamedListener is an address that a node binds to, and what it tells of it.
type NamedListener struct {
	Name string // upper case, as Kafka has it
	Bind string // host:port; an empty host is every interface, port 0 a free one
	// Host and Port are advertised. An empty Host, or port 0: what Bind came to be.
	Host string
	Port int32
}

// ListenerPlan is what ListenerSettings come to.
type ListenerPlan struct {
	Clients     []NamedListener // of the broker role, in the order they were given; brokers use them too
	Controllers []NamedListener // of the controller role
	InterBroker string          // name of the one that brokers use among themselves; "" without the role
}

// securityProtocols are Kafka's, by their numbers. A listener with the name of one has it by default.
var securityProtocols = [...]string{"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}

// Parse judges all settings and names everything that is wrong with them, a line each, beginning with
// the setting's name.
func (s *ListenerSettings) Parse() (*ListenerPlan, error) {
	p := listenerParser{settings: s, controllers: splitNames(s.ControllerListeners)}
	p.protocols()
	p.bind()
	p.advertise()
	p.interBroker()
	if err := errors.Join(p.faults...); err != nil {
		return nil, err
	}
	return &p.plan, nil
}

// listenerParser is the state of judging the settings.
type listenerParser struct {
	settings    *ListenerSettings
	controllers []string          // names of controller listeners
	protocol    map[string]string // of listeners, by name
	bound       []string          // addresses, so far
	plan        ListenerPlan
	faults      []error
}

func (p *listenerParser) fault(setting, format string, args ...any) {
	p.faults = append(p.faults, fmt.Errorf(setting+": "+format, args...))
}

// protocols reads the map of names to security protocols.
func (p *listenerParser) protocols() {
	const setting = "listener.security.protocol.map"
	p.protocol = map[string]string{}
	for _, name := range securityProtocols {
		p.protocol[name] = name
	}
	if p.settings.SecurityProtocolMap == "" {
		for _, name := range p.controllers {
			if p.protocol[name] == "" {
				p.protocol[name] = "PLAINTEXT" // Kafka's default for controller listeners
			}
		}
		return
	}
	seen := map[string]bool{}
	for _, entry := range splitList(p.settings.SecurityProtocolMap) {
		name, protocol, ok := strings.Cut(entry, ":")
		name, protocol = normalName(name), normalName(protocol)
		switch {
		case !ok || name == "":
			p.fault(setting, "%q: give NAME:PROTOCOL", entry)
		case seen[name]:
			p.fault(setting, "%s is mapped twice", name)
		case !slices.Contains(securityProtocols[:], protocol):
			p.fault(setting, "%q: give one of %s", entry, strings.Join(securityProtocols[:], ", "))
		}
		seen[name], p.protocol[name] = true, protocol
	}
}

// bind reads the addresses to bind to.
func (p *listenerParser) bind() {
	const setting = "listeners"
	given := splitList(p.settings.Listeners)
	if len(given) == 0 && p.settings.BrokerRole {
		given = []string{"PLAINTEXT://" + p.settings.DefaultListenAddress}
	}
	for _, entry := range given {
		l, err := parseListener(entry)
		if err != nil {
			p.fault(setting, "%w", err)
			continue
		}
		p.judgeBound(setting, entry, &l)
		if slices.Contains(p.controllers, l.Name) {
			p.plan.Controllers = append(p.plan.Controllers, l)
		} else {
			p.plan.Clients = append(p.plan.Clients, l)
		}
	}
	for _, name := range p.controllers {
		if p.settings.ControllerRole && p.settings.Listeners != "" && p.find(name) == nil {
			p.fault("controller.listener.names", "%s is not among the listeners", name)
		}
	}
	if !p.settings.BrokerRole && len(p.plan.Clients) > 0 {
		p.fault(setting, "%s: the node is no broker: leave it out, or name it in controller.listener.names",
			p.plan.Clients[0].Name)
	}
	if !p.settings.ControllerRole && len(p.plan.Controllers) > 0 {
		p.fault(setting, "%s: the node is no controller: leave it out", p.plan.Controllers[0].Name)
	}
	if p.settings.BrokerRole && len(p.plan.Clients) == 0 && len(p.faults) == 0 {
		p.fault(setting, "none is for clients: add one that controller.listener.names does not name")
	}
}

func (p *listenerParser) judgeBound(setting, entry string, l *NamedListener) {
	protocol, known := p.protocol[l.Name]
	switch {
	case p.find(l.Name) != nil:
		p.fault(setting, "%s is given twice", l.Name)
	case slices.Contains(p.bound, l.Bind) && l.Port != 0:
		p.fault(setting, "%q: the address is taken by another listener", entry)
	case !known:
		p.fault("listener.security.protocol.map", "it does not say the protocol of listener %s", l.Name)
	case protocol != "PLAINTEXT" && slices.Contains(securityProtocols[:], protocol):
		p.fault("listener.security.protocol.map", "%s:%s: only PLAINTEXT is served so far",
			l.Name, protocol)
	}
	p.bound = append(p.bound, l.Bind)
	if everyInterface(l.Host) {
		l.Host = ""
	}
}

// find returns the listener with this name, or nil.
func (p *listenerParser) find(name string) *NamedListener {
	for _, all := range [][]NamedListener{p.plan.Clients, p.plan.Controllers} {
		if i := slices.IndexFunc(all, func(l NamedListener) bool { return l.Name == name }); i >= 0 {
			return &all[i]
		}
	}
	return nil
}

// advertise reads what clients are told; without it, what is bound to.
func (p *listenerParser) advertise() {
	const setting = "advertised.listeners"
	told := map[string]bool{}
	for _, entry := range splitList(p.settings.AdvertisedListeners) {
		a, err := parseListener(entry)
		if err != nil {
			p.fault(setting, "%w", err)
			continue
		}
		l := p.find(a.Name)
		switch {
		case told[a.Name]:
			p.fault(setting, "%s is given twice", a.Name)
		case l == nil:
			p.fault(setting, "%s is not among the listeners", a.Name)
		case everyInterface(a.Host) || a.Port == 0:
			p.fault(setting, "%q: nobody can connect to it: give a host and a port", entry)
		default:
			l.Host, l.Port = a.Host, a.Port
		}
		told[a.Name] = true
	}
	// A list that is given is complete: what it leaves out is told nobody, and could not be used.
	for _, l := range p.plan.Clients {
		if len(told) > 0 && !told[l.Name] {
			p.fault(setting, "it leaves out listener %s", l.Name)
		}
	}
}

// interBroker finds the listener that brokers use among themselves: the one that is named, else
// PLAINTEXT, else the only one.
func (p *listenerParser) interBroker() {
	const setting = "inter.broker.listener.name"
	name := normalName(p.settings.InterBrokerListener)
	isClient := func(name string) bool {
		return slices.ContainsFunc(p.plan.Clients, func(l NamedListener) bool { return l.Name == name })
	}
	switch {
	case !p.settings.BrokerRole:
	case name != "" && !isClient(name):
		p.fault(setting, "%s is not among the listeners of the broker", name)
	case name != "":
		p.plan.InterBroker = name
	case isClient("PLAINTEXT"):
		p.plan.InterBroker = "PLAINTEXT"
	case len(p.plan.Clients) == 1:
		p.plan.InterBroker = p.plan.Clients[0].Name
	case len(p.plan.Clients) > 1:
		p.fault(setting, "give it: there are several listeners and none is PLAINTEXT")
	}
}

// parseListener reads NAME://host:port.
func parseListener(entry string) (NamedListener, error) {
	name, address, ok := strings.Cut(entry, "://")
	host, port, err := SplitHostPort(address)
	l := NamedListener{Name: normalName(name), Bind: address, Host: host, Port: port}
	if !ok || l.Name == "" || err != nil {
		return l, fmt.Errorf("%q: give NAME://host:port", entry)
	}
	return l, nil
}

// SplitHostPort takes host:port apart. An address of IPv6 stands in brackets. The host may be empty.
func SplitHostPort(address string) (host string, port int32, err error) {
	fault := fmt.Errorf("%q: give host:port", address)
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return "", 0, fault
	}
	host = address[:i]
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	} else if strings.ContainsAny(host, ":[]") {
		return "", 0, fault
	}
	n, wrong := strconv.ParseUint(address[i+1:], 10, 16)
	if wrong != nil || strings.ContainsAny(host, "/ \t") {
		return "", 0, fault
	}
	return host, int32(n), nil
}

// JoinHostPort makes host:port, which SplitHostPort takes apart.
func JoinHostPort(host string, port int32) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("%s:%d", host, port)
}

// everyInterface says whether a host means all addresses of the machine.
func everyInterface(host string) bool { return host == "" || host == "0.0.0.0" || host == "::" }

// normalName is how Kafka compares the names of listeners.
func normalName(name string) string { return strings.ToUpper(strings.TrimSpace(name)) }

func splitNames(list string) []string {
	names := splitList(list)
	for i := range names {
		names[i] = normalName(names[i])
	}
	return names
}

// splitList splits at commas and drops what is empty.
func splitList(list string) []string {
	var out []string
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			out = append(out, entry)
		}
	}
	return out
}
