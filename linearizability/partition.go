package linearizability

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"stet/core/kafka"
)

// Partition names one life of one partition. A topic that is deleted and created again has another
// topic id, hence other partitions. A recorder either gives the id in every operation or in none;
// the zero id means that ids are not known.
type Partition struct {
	Topic string
	ID    kafka.TopicID
	Index kafka.PartitionID
}

// String gives topic-index, and topic-index@id when the id is known.
func (p Partition) String() string {
	name := p.Topic + "-" + strconv.Itoa(int(p.Index))
	if p.ID == (kafka.TopicID{}) {
		return name
	}
	return name + "@" + p.ID.String()
}

// MarshalText writes the form of String.
func (p Partition) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the form of String. A topic name can hold '-', but never '@'.
func (p *Partition) UnmarshalText(text []byte) error {
	name, id, hasID := strings.Cut(string(text), "@")
	dash := strings.LastIndexByte(name, '-')
	if dash < 0 {
		return fmt.Errorf("partition %q: want topic-index", text)
	}
	index, err := strconv.ParseInt(name[dash+1:], 10, 32)
	if err != nil {
		return fmt.Errorf("partition %q: %w", text, err)
	}
	*p = Partition{Topic: name[:dash], Index: kafka.PartitionID(index)}
	if hasID {
		p.ID, err = kafka.ParseTopicID(id)
	}
	return err
}

// comparePartitions is the total order in which checks visit partitions and print them.
func comparePartitions(a, b Partition) int {
	return cmp.Or(
		strings.Compare(a.Topic, b.Topic),
		cmp.Compare(a.Index, b.Index),
		strings.Compare(string(a.ID[:]), string(b.ID[:])),
	)
}
