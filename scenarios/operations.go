package scenarios

import (
	"slices"
	"strconv"

	"stet/core/kafka"
	meta "stet/core/metadata"
	"stet/linearizability/metadata"
)

// operations is the history of what operators asked for: Q9. Every request is an operation.
type operations struct {
	*clusterRun
	history metadata.History
	marks   int // values that were given out
	open    int // requests under way
	blocks  map[kafka.ProducerID]bool
}

func newOperations(r *clusterRun) *operations {
	return &operations{clusterRun: r, blocks: map[kafka.ProducerID]bool{}}
}

func (l *operations) step() metadata.Step { return metadata.Step(l.world.Scheduler.EventCount()) }

// settings that operators set: they change nothing that a short run notices, and take any value from
// markBase on.
const (
	topicMark  = "segment.ms"
	otherKey   = "message.timestamp.before.max.ms"
	brokerKey  = "message.max.bytes"
	markBase   = 1_000_000_000
	brokerBase = 1_000_000
)

// mark gives a value that no other operation has.
func (l *operations) mark(base int) string {
	l.marks++
	return strconv.Itoa(base + l.marks)
}

// ask makes a request an operation of the history. request sends it, and says what came of it.
func (l *operations) ask(o metadata.Operation, request func(*metadata.Operation) kafka.ErrorCode) kafka.ErrorCode {
	o.Call = l.step()
	l.open++
	at := len(l.history.Operations)
	l.history.Operations = append(l.history.Operations, o) // in the order of calls
	code := request(&o)
	l.open--
	o.Outcome = outcomeOf(o.Kind, code)
	if o.Return = l.step(); o.Outcome == metadata.Unknown {
		o.Return = 0
	}
	l.history.Operations[at] = o
	c := l.findings.counters
	c["client.operations"]++
	c["client."+o.Kind.String()+"."+o.Outcome.String()]++
	c["client.code."+code.String()]++
	if o.Outcome == metadata.OK {
		c["client.ok"]++
	}
	return code
}

// outcomeOf says what a code means for the history. What is not listed says nothing: the request may
// take effect. A controller that stops leading answers NOT_CONTROLLER whether or not it has proposed.
func outcomeOf(k metadata.Kind, code kafka.ErrorCode) metadata.Outcome {
	switch code {
	case kafka.None:
		return metadata.OK
	case kafka.TopicAlreadyExists:
		return metadata.Exists
	case kafka.UnknownTopicOrPartition, kafka.UnknownTopicID:
		return metadata.Missing
	case kafka.InvalidPartitions:
		if k == metadata.Grow {
			return metadata.Small
		}
		return metadata.Refused
	case kafka.InvalidReplicationFactor, kafka.InvalidConfig, kafka.InvalidRequest, kafka.PolicyViolation,
		kafka.UnsupportedVersion, kafka.InvalidTopicException:
		return metadata.Refused
	}
	return metadata.Unknown
}

// changes are those of the committed log, told from the images before and after each entry. The topic of
// a run's records is not an operator's: the run itself creates it, before there are any.
func (l *operations) changes() (out []metadata.Change) {
	before := meta.Empty()
	for _, e := range l.watch.state.Ledger.Entries() {
		for _, c := range changesBetween(before, e.Image) {
			if c.Resource == topicResource(topicName) {
				continue
			}
			c.Index, c.Step = int64(e.Index), metadata.Step(e.Step)
			out = append(out, c)
		}
		before = e.Image
	}
	return out
}

// changesBetween lists what is different between two images, of what operators change.
func changesBetween(before, after *meta.Image) (out []metadata.Change) {
	for t := range before.Topics() {
		if after.TopicByID(t.ID) == nil {
			out = append(out, metadata.Change{Kind: metadata.Delete, Resource: topicResource(t.Name), ID: t.ID})
		}
	}
	for t := range after.Topics() {
		old := before.TopicByID(t.ID)
		if old == nil {
			out = append(out, metadata.Change{
				Kind: metadata.Create, Resource: topicResource(t.Name), ID: t.ID,
				Partitions: int32(t.PartitionCount()), Key: topicMark, Value: valueOf(t.Configs(), topicMark),
			})
			continue
		}
		if old == t {
			continue
		}
		if t.PartitionCount() != old.PartitionCount() {
			out = append(out, metadata.Change{
				Kind: metadata.Grow, Resource: topicResource(t.Name), ID: t.ID, Partitions: int32(t.PartitionCount()),
			})
		}
		out = append(out, settingsBetween(topicResource(t.Name), t.ID, old.Configs(), t.Configs())...)
	}
	for b := range after.Brokers() {
		r := meta.Resource{Type: meta.ResourceBroker, Name: strconv.Itoa(int(b.ID))}
		out = append(out, settingsBetween(metadata.Resource{Type: "broker", Name: r.Name}, kafka.TopicID{},
			before.ResourceConfigs(r), after.ResourceConfigs(r))...)
	}
	return out
}

func settingsBetween(r metadata.Resource, id kafka.TopicID, before, after []meta.ConfigEntry) (out []metadata.Change) {
	for _, e := range after {
		if valueOf(before, e.Name) != e.Value {
			out = append(out, metadata.Change{Kind: metadata.Set, Resource: r, ID: id, Key: e.Name, Value: e.Value})
		}
	}
	return out
}

func valueOf(entries []meta.ConfigEntry, name string) string {
	i := slices.IndexFunc(entries, func(e meta.ConfigEntry) bool { return e.Name == name })
	if i < 0 {
		return ""
	}
	return entries[i].Value
}

func topicResource(name string) metadata.Resource {
	return metadata.Resource{Type: metadata.Topic, Name: name}
}

// judge is Q9.
func (r *clusterRun) judge() {
	h := &r.ledger.history
	h.Changes = r.ledger.changes()
	v := metadata.Judge(h)
	for _, text := range v.Violations {
		r.findings.fails("Q9", "%s", text)
	}
	for _, c := range v.Counts() {
		r.findings.counters["history.Q9."+c.Name] += c.Count
	}
	if v.Undecided() {
		r.findings.counters[Undecided]++
	}
	r.findings.counters["checked.Q9"] += int64(len(h.Operations))
}
