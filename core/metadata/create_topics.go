package metadata

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"stet/core/kafka"
)

// maxPartitionsPerRequest is Kafka's bound on what one request may create
// (ReplicationControlManager.MAX_PARTITIONS_PER_BATCH).
const maxPartitionsPerRequest = 10_000

// NewTopic is a topic as a client asks for it.
type NewTopic struct {
	Name              string
	Partitions        int32 // -1: the default, or as many as Assignments
	ReplicationFactor int16 // -1: the default, or as Assignments say
	Assignments       []Assignment
	Configs           []NewConfig
}

// Assignment places the replicas of one partition.
type Assignment struct {
	Partition kafka.PartitionID
	Replicas  []kafka.BrokerID
}

// TopicDefaults are what a request leaves open: values for -1, and when it was decided.
type TopicDefaults struct {
	Partitions        int32
	ReplicationFactor int16
	NowMs             int64 // wall clock
}

// CreatedTopic is the outcome for one topic. On an error only Name, Error and Message are set.
type CreatedTopic struct {
	Name              string
	Error             kafka.ErrorCode
	Message           string
	ID                kafka.TopicID
	Partitions        int32
	ReplicationFactor int16
	Configs           []ConfigEntry // overrides, sorted by name
}

// CreateTopics decides on one CreateTopics request. The outcomes are in the order of the request;
// a name that occurs twice is refused, once. Topic ids are drawn from random, as are the places of
// the first replicas.
func CreateTopics(image *Image, topics []NewTopic, defaults TopicDefaults, random *rand.Rand,
) ([]Record, []CreatedTopic) {
	c := creation{image: image, defaults: defaults, random: random}
	for i := range topics {
		if named(topics[:i], topics[i].Name) {
			continue
		}
		t := &topics[i]
		r := c.create(t, named(topics[i+1:], t.Name))
		if r.refused() {
			c.outcomes = append(c.outcomes, CreatedTopic{Name: t.Name, Error: r.code, Message: r.text})
		}
	}
	return c.records, c.outcomes
}

// named says whether one of the topics has this name.
func named(topics []NewTopic, name string) bool {
	return slices.ContainsFunc(topics, func(t NewTopic) bool { return t.Name == name })
}

// creation is the state of deciding on one request.
type creation struct {
	image       *Image
	directories directoryLoad // nil: not counted yet
	defaults    TopicDefaults
	random      *rand.Rand
	partitions  int // of all topics created so far
	names       []string
	records     []Record
	outcomes    []CreatedTopic
}

func (c *creation) create(t *NewTopic, twice bool) refusal {
	if twice {
		return refuse(kafka.InvalidRequest, "the request names topic %q twice", t.Name)
	}
	if r := c.checkName(t.Name); r.refused() {
		return r
	}
	configs, faults := checkTopicConfigs(t.Configs)
	placed, r := c.place(t)
	switch {
	case len(faults) > 0 && r.refused():
		faults = append(faults, r.text)
		fallthrough
	case len(faults) > 0:
		return refuse(kafka.InvalidConfig, "%s", strings.Join(faults, "; "))
	case r.refused():
		return r
	}
	c.names = append(c.names, t.Name)
	c.partitions += len(placed)
	id := c.newID()
	topic := &TopicRecord{ID: id, Name: t.Name, Configs: configs}
	if c.image.Features().datesTopics() {
		topic.Created = c.defaults.NowMs
	}
	c.records = append(c.records, topic)
	for i := range placed {
		c.records = append(c.records, &PartitionRecord{id, kafka.PartitionID(i), placed[i]})
	}
	c.outcomes = append(c.outcomes, CreatedTopic{
		Name: t.Name, ID: id, Configs: configs,
		Partitions: int32(len(placed)), ReplicationFactor: int16(len(placed[0].Replicas)),
	})
	return refusal{}
}

// checkName refuses names that Kafka refuses, those that exist, and those that differ from another
// only in '.' and '_', which Kafka's metrics can not tell apart.
func (c *creation) checkName(name string) refusal {
	if !kafka.ValidTopicName(name) {
		return refuse(kafka.InvalidTopicException,
			"topic name %q: want 1 to %d letters, digits, '.', '_' and '-', and not \".\" or \"..\"",
			name, kafka.MaxTopicNameLength)
	}
	if c.image.Topic(name) != nil {
		return refuse(kafka.TopicAlreadyExists, "topic %q exists already", name)
	}
	if strings.ContainsAny(name, "._") {
		if other := c.collision(name); other != "" {
			return refuse(kafka.InvalidTopicException, "topic name %q collides with topic %q", name, other)
		}
	}
	return refusal{}
}

// collision looks through all topics; only names with '.' or '_' pay for it.
func (c *creation) collision(name string) string {
	plain := strings.ReplaceAll(name, ".", "_")
	collides := func(other string) bool {
		return len(other) == len(plain) && strings.ReplaceAll(other, ".", "_") == plain
	}
	for t := range c.image.Topics() {
		if collides(t.Name) {
			return t.Name
		}
	}
	if i := slices.IndexFunc(c.names, collides); i >= 0 {
		return c.names[i]
	}
	return ""
}

// newID draws an id that is neither zero nor one, which Kafka reserves, nor in use, and that does
// not print with a leading '-', which tools would take for an option.
func (c *creation) newID() kafka.TopicID {
	for {
		var id kafka.TopicID
		for i := range id {
			id[i] = byte(c.random.Uint32())
		}
		reserved := id == kafka.TopicID{} || id == kafka.TopicID{15: 1}
		if !reserved && id.String()[0] != '-' && c.image.TopicByID(id) == nil {
			return id
		}
	}
}

// place decides on the partitions and their replicas.
func (c *creation) place(t *NewTopic) ([]Partition, refusal) {
	if len(t.Assignments) > 0 {
		return c.placeByHand(t)
	}
	count, factor := t.Partitions, t.ReplicationFactor
	if factor == -1 {
		factor = c.defaults.ReplicationFactor
	}
	if count == -1 {
		count = c.defaults.Partitions
	}
	if factor <= 0 {
		return nil, refuse(kafka.InvalidReplicationFactor,
			"replication factor %d: want at least 1, or -1 for the default", t.ReplicationFactor)
	}
	if count <= 0 {
		return nil, refuse(kafka.InvalidPartitions,
			"%d partitions: want at least 1, or -1 for the default", t.Partitions)
	}
	if r := c.checkCount(int64(count)); r.refused() {
		return nil, r
	}
	replicas, r := placeReplicas(c.image, nil, int(count), int(factor), c.random)
	if r.refused() {
		return nil, r
	}
	out := make([]Partition, count)
	for i := range out {
		out[i] = c.newPartition(replicas[i])
	}
	return out, refusal{}
}

func (c *creation) checkCount(count int64) refusal {
	if count > maxPartitionsPerRequest-int64(c.partitions) {
		return refuse(kafka.PolicyViolation,
			"more than %d partitions in one request", maxPartitionsPerRequest)
	}
	return refusal{}
}

// newPartition makes the first state of a partition: all replicas on active brokers are in sync, and
// the first of them leads. At least one must be.
func (c *creation) newPartition(replicas []kafka.BrokerID) Partition {
	if c.directories == nil {
		c.directories = newDirectoryLoad(c.image)
	}
	p := Partition{Replicas: replicas}
	p.Leader, p.LastKnownLeader = kafka.NoBroker, kafka.NoBroker
	for _, id := range replicas {
		b := c.image.Broker(id)
		p.Directories = append(p.Directories, c.directories.choose(b))
		if b.Active() {
			p.ISR = append(p.ISR, id)
		}
	}
	p.Directories = assignedDirectories(p.Directories)
	if len(p.ISR) > 0 {
		p.Leader = p.ISR[0]
	}
	return p
}

func (c *creation) placeByHand(t *NewTopic) ([]Partition, refusal) {
	switch {
	case t.ReplicationFactor != -1:
		return nil, refuse(kafka.InvalidRequest,
			"replicas are assigned, so the replication factor must be -1, not %d", t.ReplicationFactor)
	case t.Partitions != -1:
		return nil, refuse(kafka.InvalidRequest,
			"replicas are assigned, so the number of partitions must be -1, not %d", t.Partitions)
	case len(t.Assignments) > math.MaxInt32:
		return nil, refuse(kafka.PolicyViolation, "too many partitions")
	}
	if r := c.checkCount(int64(len(t.Assignments))); r.refused() {
		return nil, r
	}
	out := make([]Partition, len(t.Assignments))
	seen := make([]bool, len(out))
	for i := range t.Assignments {
		a := &t.Assignments[i]
		if a.Partition < 0 || int(a.Partition) >= len(out) || seen[a.Partition] {
			return nil, refuse(kafka.InvalidReplicaAssignment,
				"partition %d: want each of 0 to %d once", a.Partition, len(out)-1)
		}
		seen[a.Partition] = true
		if r := c.checkAssignment(a, len(t.Assignments[0].Replicas)); r.refused() {
			return nil, r
		}
		out[a.Partition] = c.newPartition(slices.Clone(a.Replicas))
	}
	return out, refusal{}
}

func (c *creation) checkAssignment(a *Assignment, factor int) refusal {
	if r := checkReplicas(c.image, a); r.refused() {
		return r
	}
	if len(a.Replicas) != factor {
		return refuse(kafka.InvalidReplicaAssignment,
			"partition %d has %d replicas, others have %d", a.Partition, len(a.Replicas), factor)
	}
	isActive := func(id kafka.BrokerID) bool { return c.image.Broker(id).Active() }
	if !slices.ContainsFunc(a.Replicas, isActive) {
		return refuse(kafka.InvalidReplicaAssignment,
			"partition %d: all its brokers are fenced or shutting down", a.Partition)
	}
	return refusal{}
}

// checkReplicas refuses what is no list of registered brokers, each named once.
func checkReplicas(image *Image, a *Assignment) refusal {
	if len(a.Replicas) == 0 {
		return refuse(kafka.InvalidReplicaAssignment, "partition %d has no replicas", a.Partition)
	}
	for i, id := range a.Replicas {
		if slices.Contains(a.Replicas[:i], id) {
			return refuse(kafka.InvalidReplicaAssignment,
				"partition %d: broker %d is named twice", a.Partition, id)
		}
		if image.Broker(id) == nil {
			return refuse(kafka.InvalidReplicaAssignment,
				"partition %d: broker %d is not registered", a.Partition, id)
		}
	}
	return refusal{}
}
