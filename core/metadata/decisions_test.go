package metadata

import (
	"math/rand/v2"
	"strings"
	"testing"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
)

var defaults = TopicDefaults{Partitions: 4, ReplicationFactor: 2}

// fiveBrokers has unfenced brokers 1 to 4 in two racks and the fenced broker 5.
func fiveBrokers(t testing.TB) *Image {
	var records []Record
	for id := kafka.BrokerID(1); id <= 5; id++ {
		rack := []string{"r1", "r2"}[id%2]
		records = append(records, &BrokerRecord{Broker{
			ID: id, Epoch: -1, Rack: rack, Fenced: id == 5, Directories: []DirectoryID{{byte(id)}},
		}})
	}
	image, err := Empty().Apply(1, records...)
	require.NoError(t, err)
	return image
}

// create decides on the topics and applies the decision.
func create(t testing.TB, image *Image, topics ...NewTopic) (*Image, []CreatedTopic) {
	random := rand.New(rand.NewPCG(uint64(image.Index()), 5))
	records, outcomes := CreateTopics(image, topics, defaults, random)
	next, err := image.Apply(image.Index()+1, records...)
	require.NoError(t, err)
	return next, outcomes
}

func topicNamed(name string) NewTopic { return NewTopic{name, -1, -1, nil, nil} }

func with(change func(*NewTopic)) NewTopic {
	t := topicNamed("new")
	change(&t)
	return t
}

func settings(pairs ...string) []NewConfig {
	var out []NewConfig
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, NewConfig{pairs[i], &pairs[i+1]})
	}
	return out
}

func assigned(replicas ...[]kafka.BrokerID) func(*NewTopic) {
	return func(t *NewTopic) {
		for i, r := range replicas {
			t.Assignments = append(t.Assignments, Assignment{kafka.PartitionID(i), r})
		}
	}
}

func TestTopicIsCreatedWithDefaults(t *testing.T) {
	image, outcomes := create(t, fiveBrokers(t), topicNamed("a"))
	require.Equal(t, kafka.None, outcomes[0].Error)
	require.Equal(t, int32(4), outcomes[0].Partitions)
	require.Equal(t, int16(2), outcomes[0].ReplicationFactor)
	topic := image.TopicByID(outcomes[0].ID)
	require.Equal(t, "a", topic.Name)
	leaders := map[kafka.BrokerID]bool{}
	for i := range topic.PartitionCount() {
		p := topic.Partition(kafka.PartitionID(i))
		require.Equal(t, p.Replicas, p.ISR)
		require.Equal(t, p.Replicas[0], p.Leader)
		require.Equal(t, DirectoryID{byte(p.Replicas[1])}, p.Directory(p.Replicas[1]))
		require.NotEqual(t, image.Broker(p.Replicas[0]).Rack, image.Broker(p.Replicas[1]).Rack)
		require.NotContains(t, p.Replicas, kafka.BrokerID(5), "a fenced broker gets a replica")
		leaders[p.Leader] = true
	}
	require.Len(t, leaders, 4, "leaders are spread")
}

func TestTopicRefusals(t *testing.T) {
	image, _ := create(t, fiveBrokers(t), topicNamed("old"), topicNamed("a.b"))
	for name, c := range map[string]struct {
		topic NewTopic
		want  kafka.ErrorCode
		text  string
	}{
		"empty name":      {with(func(n *NewTopic) { n.Name = "" }), kafka.InvalidTopicException, ""},
		"dots":            {with(func(n *NewTopic) { n.Name = ".." }), kafka.InvalidTopicException, ""},
		"strange name":    {with(func(n *NewTopic) { n.Name = "a b" }), kafka.InvalidTopicException, ""},
		"long name":       {with(func(n *NewTopic) { n.Name = strings.Repeat("a", 250) }), kafka.InvalidTopicException, ""},
		"exists":          {topicNamed("old"), kafka.TopicAlreadyExists, "old"},
		"collides":        {topicNamed("a_b"), kafka.InvalidTopicException, "a.b"},
		"no partitions":   {with(func(n *NewTopic) { n.Partitions = 0 }), kafka.InvalidPartitions, ""},
		"too many":        {with(func(n *NewTopic) { n.Partitions = 10_001 }), kafka.PolicyViolation, ""},
		"factor 0":        {with(func(n *NewTopic) { n.ReplicationFactor = 0 }), kafka.InvalidReplicationFactor, ""},
		"factor -2":       {with(func(n *NewTopic) { n.ReplicationFactor = -2 }), kafka.InvalidReplicationFactor, ""},
		"factor 5 of 4":   {with(func(n *NewTopic) { n.ReplicationFactor = 5 }), kafka.InvalidReplicationFactor, "4"},
		"gap by hand":     {with(func(n *NewTopic) { n.Assignments = []Assignment{{1, []kafka.BrokerID{1}}} }), kafka.InvalidReplicaAssignment, ""},
		"unknown broker":  {with(assigned([]kafka.BrokerID{9})), kafka.InvalidReplicaAssignment, "9"},
		"broker twice":    {with(assigned([]kafka.BrokerID{1, 1})), kafka.InvalidReplicaAssignment, "1"},
		"no replicas":     {with(assigned(nil)), kafka.InvalidReplicaAssignment, ""},
		"uneven by hand":  {with(assigned([]kafka.BrokerID{1, 2}, []kafka.BrokerID{1})), kafka.InvalidReplicaAssignment, ""},
		"all fenced":      {with(assigned([]kafka.BrokerID{5})), kafka.InvalidReplicaAssignment, "fenced"},
		"unknown setting": {with(func(n *NewTopic) { n.Configs = settings("no.such", "1") }), kafka.InvalidConfig, "no.such"},
		"null setting":    {with(func(n *NewTopic) { n.Configs = []NewConfig{{"retention.ms", nil}} }), kafka.InvalidConfig, "retention.ms"},
		"setting twice":   {with(func(n *NewTopic) { n.Configs = settings("flush.messages", "1", "flush.messages", "2") }), kafka.InvalidConfig, "twice"},
		"not obeyed":      {with(func(n *NewTopic) { n.Configs = settings("flush.ms", "9") }), kafka.InvalidConfig, "flush.ms"},
		"by hand, with partitions": {with(func(n *NewTopic) {
			assigned([]kafka.BrokerID{1})(n)
			n.Partitions = 1
		}), kafka.InvalidRequest, ""},
		"by hand, with factor": {with(func(n *NewTopic) {
			assigned([]kafka.BrokerID{1})(n)
			n.ReplicationFactor = 1
		}), kafka.InvalidRequest, ""},
	} {
		after, outcomes := create(t, image, c.topic)
		require.Len(t, outcomes, 1, name)
		require.Equal(t, c.want, outcomes[0].Error, "%s: %s", name, outcomes[0].Message)
		require.Contains(t, outcomes[0].Message, c.text, name)
		require.Equal(t, image.TopicCount(), after.TopicCount(), name)
	}
}

func TestAllFaultsOfATopicAreToldAtOnce(t *testing.T) {
	_, outcomes := create(t, fiveBrokers(t), with(func(n *NewTopic) {
		n.Configs = settings("retention.ms", "1000", "cleanup.policy", "compact", "nope", "1",
			"segment.bytes", "5", "preallocate", "true")
		n.ReplicationFactor = 7
	}))
	require.Equal(t, kafka.InvalidConfig, outcomes[0].Error)
	for _, name := range []string{
		"retention.ms", "cleanup.policy", "nope", "segment.bytes", "preallocate", "replication factor",
	} {
		require.Contains(t, outcomes[0].Message, name)
	}
}

func TestAssignmentByHandIsKept(t *testing.T) {
	image, outcomes := create(t, fiveBrokers(t), with(assigned([]kafka.BrokerID{5, 2}, []kafka.BrokerID{3, 1})))
	require.Equal(t, kafka.None, outcomes[0].Error)
	p := image.Topic("new").Partition(0)
	require.Equal(t, []kafka.BrokerID{5, 2}, p.Replicas)
	require.Equal(t, []kafka.BrokerID{2}, p.ISR, "a fenced broker is not in sync")
	require.Equal(t, kafka.BrokerID(2), p.Leader)
}

func TestNameTwiceInOneRequestIsRefusedOnce(t *testing.T) {
	image, outcomes := create(t, fiveBrokers(t), topicNamed("a"), topicNamed("b"), topicNamed("a"))
	require.Len(t, outcomes, 2)
	require.Equal(t, kafka.InvalidRequest, outcomes[0].Error)
	require.Equal(t, kafka.None, outcomes[1].Error)
	require.Equal(t, 1, image.TopicCount())
	_, outcomes = create(t, image, topicNamed("x.y"), topicNamed("x_y"))
	require.Equal(t, kafka.InvalidTopicException, outcomes[1].Error, "collision inside a request")
}

func TestDeletionRefusals(t *testing.T) {
	image, outcomes := create(t, fiveBrokers(t), topicNamed("a"), topicNamed("b"))
	a, no := "a", "no"
	records, deleted := DeleteTopics(image, []TopicRef{
		{Name: &a},
		{ID: outcomes[0].ID},
		{Name: &no},
		{ID: kafka.TopicID{9}},
		{},
		{Name: &a, ID: kafka.TopicID{1}},
		{ID: outcomes[1].ID},
	})
	var codes []kafka.ErrorCode
	for _, d := range deleted {
		codes = append(codes, d.Error)
	}
	require.Equal(t, []kafka.ErrorCode{
		kafka.InvalidRequest, kafka.InvalidRequest, kafka.UnknownTopicOrPartition, kafka.UnknownTopicID,
		kafka.InvalidRequest, kafka.InvalidRequest, kafka.None,
	}, codes)
	require.Equal(t, []Record{&TopicRemovalRecord{outcomes[1].ID}}, records)
	require.Equal(t, "b", *deleted[6].Name, "asked for by id, told with its name")
	_, deleted = DeleteTopics(image, []TopicRef{{Name: &a}})
	require.Equal(t, outcomes[0].ID, deleted[0].ID, "asked for by name, told with its id")
}

func TestMinimumInSyncFollowsTheReplicationFactor(t *testing.T) {
	for factor, want := range map[int]string{1: "1", 2: "1", 3: "2", 5: "2"} {
		require.Equal(t, want, effective(kafka.DefaultTopicConfig(), nil, factor)["min.insync.replicas"])
	}
}

func TestWhatIsInForceIsTold(t *testing.T) {
	base := kafka.DefaultTopicConfig()
	base.SegmentMs, base.MinInsyncReplicas = 5, 3 // of which the second must be set for the cluster
	of := effective(base, []ConfigEntry{{"flush.messages", "1"}, {"retention.ms", "-1"}}, 1)
	require.Len(t, of, 37)
	require.Equal(t, "5", of["segment.ms"], "the node's default")
	require.Equal(t, "1", of["min.insync.replicas"])
	require.Equal(t, "1 (set)", of["flush.messages"])
	require.Equal(t, "-1 (set)", of["retention.ms"])
	require.Equal(t, "-1", of["retention.bytes"], "nothing removes records")
}

// effective returns the settings in force by name; those that the topic set say so.
func effective(base kafka.TopicConfig, overrides []ConfigEntry, factor int) map[string]string {
	of := map[string]string{}
	static := kafka.BrokerValues{Topic: base}
	for _, d := range Empty().DescribeTopicConfigs(&static, kafka.NoBroker, overrides, factor) {
		of[d.Name] = d.Value
		if d.Source == SourceTopic {
			of[d.Name] += " (set)"
		}
	}
	return of
}
