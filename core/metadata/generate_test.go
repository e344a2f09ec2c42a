package metadata

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"stet/core/kafka"
)

// Generators of records, whatever they mean together.

func anyID() *rapid.Generator[[16]byte] {
	return rapid.Custom(func(t *rapid.T) (id [16]byte) {
		for i := range id {
			id[i] = rapid.Byte().Draw(t, "byte")
		}
		return id
	})
}

// idNumber makes ids that differ in few bits.
func idNumber(n int) kafka.TopicID { return kafka.TopicID{1, 14: byte(n >> 8), 15: byte(n)} }

func anyBrokers() *rapid.Generator[[]kafka.BrokerID] {
	return rapid.Custom(func(t *rapid.T) []kafka.BrokerID {
		ids := rapid.SliceOfN(rapid.Int32(), 0, 4).Draw(t, "brokers")
		var out []kafka.BrokerID
		for _, id := range ids {
			out = append(out, kafka.BrokerID(id))
		}
		return out
	})
}

func anyDirectories() *rapid.Generator[[]DirectoryID] {
	return rapid.Custom(func(t *rapid.T) []DirectoryID {
		var out []DirectoryID
		for _, id := range rapid.SliceOfN(anyID(), 0, 3).Draw(t, "directories") {
			out = append(out, id)
		}
		return out
	})
}

func anyConfigs() *rapid.Generator[[]ConfigEntry] {
	return rapid.Custom(func(t *rapid.T) []ConfigEntry {
		values := rapid.MapOfN(rapid.String(), rapid.String(), 0, 4).Draw(t, "configs")
		var out []ConfigEntry
		for name, value := range values {
			out = append(out, ConfigEntry{name, value})
		}
		slices.SortFunc(out, func(a, b ConfigEntry) int { return strings.Compare(a.Name, b.Name) })
		return out
	})
}

func anyBroker() *rapid.Generator[Broker] {
	return rapid.Custom(func(t *rapid.T) Broker {
		b := Broker{
			ID:           kafka.BrokerID(rapid.Int32().Draw(t, "id")),
			Epoch:        kafka.BrokerEpoch(rapid.Int64().Draw(t, "epoch")),
			Incarnation:  anyID().Draw(t, "incarnation"),
			Directories:  anyDirectories().Draw(t, "directories"),
			Rack:         rapid.String().Draw(t, "rack"),
			Fenced:       rapid.Bool().Draw(t, "fenced"),
			StoppingFrom: Index(rapid.Int64().Draw(t, "stopping")),
			Endpoints:    anyEndpoints().Draw(t, "endpoints"),
			Features:     anyFeatures().Draw(t, "features"),
		}
		return b
	})
}

func anyEndpoints() *rapid.Generator[[]Endpoint] {
	return rapid.Custom(func(t *rapid.T) (out []Endpoint) {
		for range rapid.IntRange(0, 2).Draw(t, "count") {
			out = append(out, Endpoint{
				rapid.String().Draw(t, "listener"), rapid.String().Draw(t, "host"),
				rapid.Uint16().Draw(t, "port"), rapid.Int16().Draw(t, "protocol"),
			})
		}
		return out
	})
}

func anyFeatures() *rapid.Generator[[]FeatureRange] {
	return rapid.Custom(func(t *rapid.T) (out []FeatureRange) {
		for range rapid.IntRange(0, 2).Draw(t, "count") {
			out = append(out, FeatureRange{
				rapid.String().Draw(t, "feature"),
				rapid.Int16().Draw(t, "min"), rapid.Int16().Draw(t, "max"),
			})
		}
		return out
	})
}

func anyVoter() *rapid.Generator[Voter] {
	return rapid.Custom(func(t *rapid.T) Voter {
		return Voter{
			ID:        rapid.Uint64().Draw(t, "id"),
			Node:      kafka.BrokerID(rapid.Int32().Draw(t, "node")),
			Directory: anyID().Draw(t, "directory"),
			Endpoints: anyEndpoints().Draw(t, "endpoints"),
			Features:  anyFeatures().Draw(t, "features"),
		}
	})
}

func anyStanding() *rapid.Generator[Standing] {
	return rapid.Custom(func(t *rapid.T) Standing {
		return Standing{
			ISR:             anyBrokers().Draw(t, "isr"),
			ELR:             anyBrokers().Draw(t, "elr"),
			Leader:          kafka.BrokerID(rapid.Int32().Draw(t, "leader")),
			LastKnownLeader: kafka.BrokerID(rapid.Int32().Draw(t, "last known leader")),
			Recovering:      rapid.Bool().Draw(t, "recovering"),
		}
	})
}

func anyUpdates() *rapid.Generator[[]PartitionUpdate] {
	return rapid.Custom(func(t *rapid.T) (out []PartitionUpdate) {
		for range rapid.IntRange(0, 3).Draw(t, "count") {
			out = append(out, PartitionUpdate{
				kafka.PartitionID(rapid.Int32().Draw(t, "partition")),
				rapid.Bool().Draw(t, "new epoch"), anyStanding().Draw(t, "standing"),
			})
		}
		return out
	})
}

func anyPartition() *rapid.Generator[Partition] {
	return rapid.Custom(func(t *rapid.T) Partition {
		var r *Reassignment
		if adding, removing := anyBrokers().Draw(t, "adding"), anyBrokers().Draw(t, "removing"); len(adding)+len(removing) > 0 {
			r = &Reassignment{adding, removing}
		}
		return Partition{
			Reassignment: r,
			Replicas:     anyBrokers().Draw(t, "replicas"),
			Directories:  anyDirectories().Draw(t, "directories"),
			Standing:     anyStanding().Draw(t, "standing"),
			LeaderEpoch:  kafka.LeaderEpoch(rapid.Int32().Draw(t, "leader epoch")),
			Epoch:        kafka.PartitionEpoch(rapid.Int32().Draw(t, "epoch")),
		}
	})
}

func anyRecord() *rapid.Generator[Record] {
	return rapid.Custom(func(t *rapid.T) Record {
		id := kafka.TopicID(anyID().Draw(t, "topic id"))
		broker := kafka.BrokerID(rapid.Int32().Draw(t, "broker"))
		epoch := kafka.BrokerEpoch(rapid.Int64().Draw(t, "broker epoch"))
		text, flag := rapid.String().Draw(t, "text"), rapid.Bool().Draw(t, "flag")
		switch recordKind(rapid.IntRange(1, int(kindLast)).Draw(t, "kind")) {
		case kindCluster:
			return &ClusterRecord{text, Features{rapid.Int16().Draw(t, "level")}}
		case kindBroker:
			return &BrokerRecord{anyBroker().Draw(t, "registration")}
		case kindBrokerState:
			return &BrokerStateRecord{broker, epoch, flag, rapid.Bool().Draw(t, "stopping")}
		case kindBrokerRemoval:
			return &BrokerRemovalRecord{broker, epoch}
		case kindVoter:
			return &VoterRecord{anyVoter().Draw(t, "voter")}
		case kindVoterRemoval:
			return &VoterRemovalRecord{rapid.Uint64().Draw(t, "voter id")}
		case kindPartitionChanges:
			return &PartitionChangesRecord{id, anyUpdates().Draw(t, "changes")}
		case kindTopic:
			return &TopicRecord{id, text, anyConfigs().Draw(t, "configs"), rapid.Int64().Draw(t, "created")}
		case kindPartition:
			number := kafka.PartitionID(rapid.Int32().Draw(t, "partition"))
			return &PartitionRecord{id, number, anyPartition().Draw(t, "state")}
		case kindTopicRemoval:
			return &TopicRemovalRecord{id}
		case kindConfig:
			resource := Resource{ResourceType(rapid.Int8().Draw(t, "type")), text}
			name, value := rapid.String().Draw(t, "name"), rapid.String().Draw(t, "value")
			return &ConfigRecord{resource, name, value, flag}
		case kindProducerIDs:
			next := kafka.ProducerID(rapid.Int64().Draw(t, "next"))
			return &ProducerIDsRecord{next, broker, epoch}
		}
		return &positionRecord{Index(rapid.Int64().Draw(t, "index"))}
	})
}
