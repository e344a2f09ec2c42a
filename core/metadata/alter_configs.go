package metadata

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stet/core/kafka"
)

// ConfigOp is what is done to one setting, with the numbers of IncrementalAlterConfigs.
type ConfigOp int8

const (
	ConfigSet      ConfigOp = 0
	ConfigDelete   ConfigOp = 1
	ConfigAppend   ConfigOp = 2 // to a list, what it does not have yet
	ConfigSubtract ConfigOp = 3 // from a list
)

// ConfigChange is a change of one setting as a client asks for it.
type ConfigChange struct {
	Name  string
	Op    ConfigOp
	Value *string // not read by ConfigDelete
}

// ResourceChange is a change of the settings of one resource.
type ResourceChange struct {
	Resource Resource
	Changes  []ConfigChange
	Replace  bool // what Changes do not name is deleted (AlterConfigs)
}

// AlteredResource is the outcome for one resource.
type AlteredResource struct {
	Resource Resource
	Error    kafka.ErrorCode
	Message  string
}

// AlterConfigs decides on one request to change settings. Each resource succeeds or fails as a whole
// and apart from the others. What new settings do to the partitions of topics comes with them. Outcomes
// are in the order of the request; of a resource that is named twice, every mention is refused.
func AlterConfigs(image *Image, asked []ResourceChange) ([]Record, []AlteredResource) {
	mentions := map[Resource]int{}
	for i := range asked {
		mentions[asked[i].Resource]++
	}
	var records []Record
	outcomes := make([]AlteredResource, len(asked))
	for i := range asked {
		a := alteration{image: image, asked: &asked[i]}
		r := a.decide(mentions[asked[i].Resource] > 1)
		outcomes[i] = AlteredResource{asked[i].Resource, r.code, r.text}
		if !r.refused() {
			records = append(records, a.records...)
		}
	}
	return settled(image, records), outcomes
}

// alteration is the state of deciding on one resource.
type alteration struct {
	image     *Image
	asked     *ResourceChange
	records   []Record
	faults    []string // all that is wrong
	malformed bool     // some of it with the request, not with a value of a topic
}

func (a *alteration) fault(format string, args ...any) {
	a.faults = append(a.faults, fmt.Sprintf(format, args...))
}

func (a *alteration) decide(twice bool) refusal {
	if twice {
		return refuse(kafka.InvalidRequest, "the request names this resource twice")
	}
	if r := checkResource(a.image, a.asked.Resource); r.refused() {
		return r
	}
	for i := range a.asked.Changes {
		a.change(i)
	}
	if len(a.faults) > 0 {
		code := kafka.InvalidConfig
		if a.malformed {
			code = kafka.InvalidRequest
		}
		return refuse(code, "%s", strings.Join(a.faults, "; "))
	}
	if a.asked.Replace {
		for _, e := range a.current() {
			if !slices.ContainsFunc(a.asked.Changes, func(c ConfigChange) bool { return c.Name == e.Name }) {
				a.delete(e.Name)
			}
		}
	}
	return refusal{}
}

// checkResource says why a resource can not have settings.
func checkResource(image *Image, r Resource) refusal {
	switch r.Type {
	case ResourceTopic:
		if r.Name == "" {
			return refuse(kafka.InvalidRequest, "topics have no default resource: set the brokers' default")
		}
		if image.Topic(r.Name) == nil {
			return refuse(kafka.UnknownTopicOrPartition, "there is no topic %q", r.Name)
		}
	case ResourceBroker:
		if r.Name == "" {
			return refusal{}
		}
		id, err := strconv.ParseInt(r.Name, 10, 32)
		if err != nil || id < 0 {
			return refuse(kafka.InvalidRequest, "broker %q: give its id, or nothing for all brokers", r.Name)
		}
		if image.Broker(kafka.BrokerID(id)) == nil {
			return refuse(kafka.BrokerIDNotRegistered, "no broker with id %d is registered", id)
		}
		if strconv.FormatInt(id, 10) != r.Name {
			return refuse(kafka.InvalidRequest, "broker %q: give the id as %d", r.Name, id)
		}
	default:
		return refuse(kafka.InvalidRequest, "resources of type %d have no settings", r.Type)
	}
	return refusal{}
}

func (a *alteration) current() []ConfigEntry { return a.image.ResourceConfigs(a.asked.Resource) }

// value returns what the resource itself sets; ok is false if it does not.
func (a *alteration) value(name string) (value string, ok bool) {
	for _, e := range a.current() {
		if e.Name == name {
			return e.Value, true
		}
	}
	return "", false
}

// change decides on one setting.
func (a *alteration) change(i int) {
	c := &a.asked.Changes[i]
	named := func(o ConfigChange) bool { return o.Name == c.Name }
	if slices.ContainsFunc(a.asked.Changes[:i], named) {
		return // told with the first mention
	}
	if slices.ContainsFunc(a.asked.Changes[i+1:], named) {
		a.malformed = true
		a.fault("%s: set twice", c.Name)
		return
	}
	s, known := settingOf(a.asked.Resource, c.Name)
	_, isSet := a.value(c.Name)
	switch {
	case c.Op < ConfigSet || c.Op > ConfigSubtract:
		a.malformed = true
		a.fault("%s: there is no operation %d", c.Name, c.Op)
	case c.Op == ConfigDelete && isSet:
		a.delete(c.Name) // also what this software does not know, because another version did
	case !known && c.Op == ConfigDelete: // it is not set
	case !known:
		a.malformed = a.malformed || a.ofBroker()
		a.fault("%s: there is no such setting of a %s", c.Name, a.kind())
	case s.refused != "":
		a.malformed = a.malformed || s.fixed
		a.fault("%s: %s", c.Name, s.refused)
	case c.Op == ConfigDelete:
	case c.Value == nil:
		a.malformed = true
		a.fault("%s: no value is given", c.Name)
	case c.Op != ConfigSet && s.kind != kafka.SettingList:
		a.fault("%s: it is no list, so nothing can be appended to it or taken from it", c.Name)
	default:
		a.set(c, &s)
	}
}

func (a *alteration) ofBroker() bool { return a.asked.Resource.Type == ResourceBroker }

func (a *alteration) kind() string {
	if a.ofBroker() {
		return "broker"
	}
	return "topic"
}

// set decides on a new value.
func (a *alteration) set(c *ConfigChange, s *setting) {
	value := strings.TrimSpace(*c.Value)
	before, isSet := a.value(c.Name)
	if c.Op != ConfigSet {
		list := before
		if !isSet {
			list = s.initial
		}
		value = changeList(list, value, c.Op)
	}
	if err := s.check(value); err != nil {
		// Kafka's brokers judge their settings and call it a bad request; topics are judged by the
		// controller, which calls it a bad setting.
		a.malformed = a.malformed || a.ofBroker()
		a.faults = append(a.faults, err.Error())
		return
	}
	if !isSet || before != value {
		a.records = append(a.records, &ConfigRecord{
			Resource: a.asked.Resource, Name: c.Name, Value: value,
		})
	}
}

// changeList appends the elements of change that list does not have, or takes them out of it, as
// Kafka does (ConfigurationControlManager.incrementalAlterConfig).
func changeList(list, change string, op ConfigOp) string {
	elements := splitList(list)
	for _, e := range splitList(change) {
		at := slices.Index(elements, e)
		switch {
		case op == ConfigAppend && at < 0:
			elements = append(elements, e)
		case op == ConfigSubtract && at >= 0:
			elements = slices.Delete(elements, at, at+1)
		}
	}
	return strings.Join(elements, ",")
}

func splitList(list string) []string {
	if list == "" {
		return nil
	}
	elements := strings.Split(list, ",")
	for i := range elements {
		elements[i] = strings.TrimSpace(elements[i])
	}
	return elements
}

func (a *alteration) delete(name string) {
	a.records = append(a.records, &ConfigRecord{Resource: a.asked.Resource, Name: name, Deleted: true})
}

// setting is what there is to know of a setting of a resource, to change it.
type setting struct {
	kind    kafka.SettingType
	initial string // where nothing is set
	refused string // why it can not be changed; "" if it can
	fixed   bool   // nobody can change it
	check   func(string) error
}

func settingOf(r Resource, name string) (setting, bool) {
	if r.Type == ResourceTopic {
		s, known := kafka.FindTopicSetting(name)
		return setting{kind: s.Type, initial: s.Default, check: s.Check}, known
	}
	s, known := kafka.FindBrokerSetting(name)
	out := setting{kind: s.Type, initial: s.Default, check: s.Check}
	switch {
	case known && !s.Dynamic:
		out.fixed = true
		out.refused = "it is read when a broker starts, and can not be changed while it runs"
	case s.WholeCluster && r.Name != "":
		out.refused = "it must be the same on all brokers: set it for the default broker"
	}
	return out, known
}
