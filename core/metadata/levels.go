package metadata

import (
	"fmt"
	"slices"
)

// Features is the level of behaviour that the whole cluster has agreed to. Every switch between old
// and new behaviour reads this one value.
type Features struct {
	Level int16 // 1 is the first; 0 means that no controller has been elected yet
}

// The levels, by what they brought. Who only knows a lower one can not read what they write.
const (
	LevelFirst         int16 = 1
	LevelTopicsDated   int16 = 2                // topics tell when they were created
	LevelReassignments       = LevelTopicsDated // partitions tell which replicas come and go
)

// CurrentLevel is the highest feature level that this software implements.
const CurrentLevel = LevelTopicsDated

// datesTopics says whether the records of topics may tell when they were created.
func (f Features) datesTopics() bool { return f.Level >= LevelTopicsDated }

// reassigns says whether the records of partitions may tell which replicas come and go.
func (f Features) reassigns() bool { return f.Level >= LevelReassignments }

// Levels is the range of feature levels that the software of a node supports, inclusive. It is a value
// of the node's configuration, so that a test can run the software of an older release; whatever else
// is built supports BuildLevels.
type Levels struct{ Min, Max int16 }

// BuildLevels returns what this software supports.
func BuildLevels() Levels { return Levels{LevelFirst, CurrentLevel} }

// Has says whether a level is in the range.
func (l Levels) Has(level int16) bool { return l.Min <= level && level <= l.Max }

// Features returns the range as a registration tells it.
func (l Levels) Features() []FeatureRange { return []FeatureRange{{FeatureName, l.Min, l.Max}} }

// ApplyEntry is Image.ApplyEntry for the software of a node: it refuses records that a higher level
// brought, and a level that it does not support.
func (l Levels) ApplyEntry(m *Image, index Index, entry []byte) (*Image, error) {
	records, err := decodeEntry(entry, l)
	if err != nil {
		return nil, fmt.Errorf("metadata entry %d: %w", index, err)
	}
	if m, err = m.Apply(index, records...); err != nil {
		return nil, err
	}
	return m, l.check(m)
}

// DecodeSnapshot is DecodeSnapshot for the software of a node.
func (l Levels) DecodeSnapshot(b []byte) (*Image, error) {
	records, err := openSnapshot(b)
	if err != nil {
		return nil, err
	}
	m, err := decodeSnapshotBody(records, l)
	if err == nil {
		err = l.check(m)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (l Levels) check(m *Image) error {
	if level := m.features.Level; level != 0 && !l.Has(level) {
		return fmt.Errorf("feature level %d is in force in the cluster; this software supports %d to %d",
			level, l.Min, l.Max)
	}
	return nil
}

// Supports says whether the ranges allow a level of the cluster's behaviour.
func Supports(ranges []FeatureRange, level int16) bool {
	return slices.ContainsFunc(ranges, func(r FeatureRange) bool {
		return r.Name == FeatureName && r.Min <= level && level <= r.Max
	})
}

// FoundingLevel returns the level that a cluster starts with: the highest that the founding controller
// and all other voters support. A voter that has said nothing may be as old as software can be.
func FoundingLevel(own Levels, voters []Record) int16 {
	level := own.Max
	for _, r := range voters {
		v, ok := r.(*VoterRecord)
		for ok && level > own.Min && !Supports(v.Voter.Features, level) {
			level--
		}
	}
	return level
}
