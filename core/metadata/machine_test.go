package metadata

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
)

// machine takes decisions at random and applies them. Beside the image it keeps what no image tells:
// which replicas hold all that is committed.
type machine struct {
	image   *Image
	entries [][]byte
	random  *rand.Rand
	lives   byte
	last    kafka.BrokerEpoch // the largest that was given
	nextID  kafka.ProducerID
	holders map[partitionKey][]kafka.BrokerID
	asked   []isrProposal // by leaders, under way
	forced  bool          // an unclean election is asked for by hand
}

func newMachine(t *rapid.T) *machine {
	m := &machine{
		image:   Empty(),
		random:  rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)),
		holders: map[partitionKey][]kafka.BrokerID{},
	}
	m.apply(t, []Record{&ClusterRecord{"cluster", Features{CurrentLevel}}})
	return m
}

// apply makes an entry of the records. The same bytes give the same image from a copy of the image
// before.
func (m *machine) apply(t *rapid.T, records []Record) {
	if len(records) == 0 {
		return
	}
	entry := AppendEntry(nil, records...)
	before, index := m.image, m.image.Index()+1
	copied, err := DecodeSnapshot(before.AppendSnapshot(nil))
	require.NoError(t, err)
	m.image, err = before.ApplyEntry(index, entry)
	require.NoError(t, err)
	other, err := copied.ApplyEntry(index, entry)
	require.NoError(t, err)
	require.Equal(t, m.image.AppendSnapshot(nil), other.AppendSnapshot(nil))
	direct, err := before.Apply(index, records...)
	require.NoError(t, err)
	require.Equal(t, m.image.AppendSnapshot(nil), direct.AppendSnapshot(nil), "what bytes do not tell")
	m.entries = append(m.entries, entry)
	m.checkSteps(t, before)
}

func (m *machine) broker(t *rapid.T) kafka.BrokerID {
	return kafka.BrokerID(rapid.IntRange(1, 5).Draw(t, "broker"))
}

func (m *machine) topic(t *rapid.T) *Topic {
	var all []*Topic
	for topic := range m.image.Topics() {
		all = append(all, topic)
	}
	if len(all) == 0 {
		return nil
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(t, "topic")]
}

// register begins a life of a broker, or repeats a registration.
func (m *machine) register(t *rapid.T) { m.begin(t, m.broker(t)) }

// restart begins a life of a broker, which is active again before anything else is decided.
func (m *machine) restart(t *rapid.T) {
	id := m.broker(t)
	m.begin(t, id)
	beat := Beat{Broker: id, Epoch: m.image.Broker(id).Epoch, Index: m.image.Index()}
	records, _, code := Heartbeat(m.image, &beat, func(kafka.BrokerID) Index { return 0 })
	require.Equal(t, kafka.None, code)
	m.apply(t, records)
}

func (m *machine) begin(t *rapid.T, id kafka.BrokerID) {
	old := m.image.Broker(id)
	m.lives++
	asked := registrationOf(id, m.lives)
	asked.Broker.Rack = []string{"a", "b"}[id%2]
	asked.Broker.Directories = []DirectoryID{{byte(id), 1}, {byte(id), 2}}
	asked.PreviousEpoch = -1
	clean, all := rapid.Bool().Draw(t, "clean"), rapid.IntRange(0, 3).Draw(t, "all directories") > 0
	if !all {
		asked.Broker.Directories[1] = DirectoryID{byte(id), 3, m.lives}
	}
	if old != nil && clean {
		asked.PreviousEpoch = old.Epoch
	}
	if old != nil && rapid.IntRange(0, 4).Draw(t, "again") == 0 {
		asked.Broker.Incarnation = old.Incarnation
	}
	records, epoch, code := RegisterBroker(m.image, asked, false)
	require.Equal(t, kafka.None, code)
	if len(records) == 0 {
		require.Equal(t, old.Epoch, epoch)
		return
	}
	lost := func(p *Partition) bool {
		d := p.Directory(id)
		if d == (DirectoryID{}) { // where it lies is not known
			return old == nil || !clean || !containsAllOf(asked.Broker.Directories, old.Directories)
		}
		return old == nil || !clean || !slices.Contains(asked.Broker.Directories, d)
	}
	m.damage(id, lost)
	m.apply(t, records)
	now := m.image.Broker(id).Epoch
	require.Greater(t, now, m.last, "broker epochs only rise")
	m.last = now
	m.requireAbsent(t, id, lost)
}

// damage takes replicas of a broker from those that hold all that is committed.
func (m *machine) damage(id kafka.BrokerID, lost func(*Partition) bool) {
	m.each(func(k partitionKey, _ *Topic, p *Partition) {
		if lost(p) {
			m.holders[k] = without(m.holders[k], id)
			m.damageProposals(k, id)
		}
	})
}

// requireAbsent fails if a damaged replica is in ISR or ELR, or assigned to a directory that is gone.
func (m *machine) requireAbsent(t *rapid.T, id kafka.BrokerID, lost func(*Partition) bool) {
	m.each(func(_ partitionKey, _ *Topic, p *Partition) {
		if lost(p) {
			require.NotContains(t, p.ISR, id)
			require.NotContains(t, p.ELR, id)
		}
		if d := p.Directory(id); d != (DirectoryID{}) {
			require.Contains(t, m.image.Broker(id).Directories, d)
		}
	})
}

func (m *machine) each(visit func(partitionKey, *Topic, *Partition)) {
	for topic := range m.image.Topics() {
		for i := range topic.PartitionCount() {
			k := partitionKey{topic.ID, kafka.PartitionID(i)}
			visit(k, topic, topic.Partition(k.id))
		}
	}
}

func (m *machine) beat(t *rapid.T) {
	b := m.image.Broker(m.broker(t))
	if b == nil {
		return
	}
	beat := Beat{
		Broker: b.ID, Epoch: b.Epoch, Index: Index(b.Epoch) - 1,
		WantFence: rapid.IntRange(0, 9).Draw(t, "fence") == 0, WantShutdown: rapid.IntRange(0, 4).Draw(t, "stop") == 0,
	}
	if rapid.IntRange(0, 4).Draw(t, "behind") > 0 {
		beat.Index = m.image.Index()
	}
	seen := func(kafka.BrokerID) Index { return m.image.Index() - Index(rapid.IntRange(0, 3).Draw(t, "lag")) }
	records, out, code := Heartbeat(m.image, &beat, seen)
	require.Equal(t, kafka.None, code)
	m.apply(t, records)
	b = m.image.Broker(b.ID)
	require.Equal(t, b.Fenced, out.Fenced)
	require.False(t, out.MayStop && !b.Fenced, "a broker that may stop leads nothing, and is in no ISR")
}

func (m *machine) fence(t *rapid.T) {
	expired := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 4).Draw(t, "expired")
	var list []kafka.BrokerID
	for _, id := range expired {
		list = append(list, kafka.BrokerID(id))
	}
	m.apply(t, FenceBrokers(m.image, list))
	for _, id := range list {
		require.True(t, m.image.Broker(id) == nil || m.image.Broker(id).Fenced)
	}
}

func (m *machine) unregister(t *rapid.T) {
	id := m.broker(t)
	if rapid.IntRange(0, 3).Draw(t, "really") > 0 || m.image.Broker(id) == nil {
		return
	}
	records, code := UnregisterBroker(m.image, id)
	require.Equal(t, kafka.None, code)
	m.damage(id, func(*Partition) bool { return true })
	m.apply(t, records)
	m.each(func(_ partitionKey, _ *Topic, p *Partition) { require.NotContains(t, append(p.ISR, p.ELR...), id) })
}

func (m *machine) config(topic *Topic) kafka.TopicConfig {
	return TopicConfig(m.image.ClusterTopicConfig(kafka.DefaultTopicConfig()), topic.Configs())
}

func (m *machine) minimum(topic *Topic, p *Partition) int {
	config := m.config(topic)
	return min(config.MinInsync(p.ReplicationFactor()), p.ReplicationFactor())
}

// TestDecisionsKeepTheInvariantsOfTheImage is R7, R12 and Q10 of the decisions, and that the order of
// elections keeps what is committed.
func TestDecisionsKeepTheInvariantsOfTheImage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		for range rapid.IntRange(0, 3).Draw(t, "brokers at first") {
			m.register(t)
		}
		t.Repeat(map[string]func(*rapid.T){
			"register": m.register, "restart": m.restart, "beat": m.beat, "beat too": m.beat, "fence": m.fence,
			"unregister": m.unregister, "create": m.createTopic, "grow": m.growTopic,
			"delete": m.deleteTopic, "configure": m.configure, "allocate": m.allocate, "vote": m.vote,
			"propose": m.propose, "propose too": m.propose, "alter": m.alter, "alter too": m.alter, "catch up": m.catchUp,
			"elect": m.elect, "reassign": m.reassign, "reassign too": m.reassign,
			"": m.check,
		})
		replayed := Empty()
		for i, entry := range m.entries {
			var err error
			replayed, err = replayed.ApplyEntry(Index(i+1), entry)
			require.NoError(t, err)
		}
		require.Equal(t, m.image.AppendSnapshot(nil), replayed.AppendSnapshot(nil))
		requireRestorable(t, m.image)
	})
}
