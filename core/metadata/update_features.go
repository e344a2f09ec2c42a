package metadata

import (
	"fmt"
	"slices"
	"strings"

	"stet/core/invariant"
	"stet/core/kafka"
)

// MetadataFeature is what Kafka's tools know of a release. Its one level says which release the
// requests are those of: 33 is 4.4-IV2.
const (
	MetadataFeature = "metadata.version"

	metadataLevel int16 = 33
)

// Advertised lists what clients are told that the software of a node supports, by ascending name.
func (l Levels) Advertised() []FeatureRange {
	return append([]FeatureRange{{MetadataFeature, metadataLevel, metadataLevel}}, l.Features()...)
}

// FinalizedFeature is a feature with the level that is in force.
type FinalizedFeature struct {
	Name  string
	Level int16
}

// FinalizedFeatures lists what is in force, by ascending name; nothing before the first controller
// has been elected.
func (m *Image) FinalizedFeatures() []FinalizedFeature {
	if m.features.Level == 0 {
		return nil
	}
	return []FinalizedFeature{{MetadataFeature, metadataLevel}, {FeatureName, m.features.Level}}
}

// UpgradeType says in which direction a level may go, with the numbers of UpdateFeatures.
type UpgradeType int8

const (
	Upgrade         UpgradeType = 1
	SafeDowngrade   UpgradeType = 2
	UnsafeDowngrade UpgradeType = 3
)

// FeatureUpdate asks for a level of a feature.
type FeatureUpdate struct {
	Name  string
	Level int16
	Type  UpgradeType
}

// UpdatedFeature is the outcome for one feature.
type UpdatedFeature struct {
	Name    string
	Error   kafka.ErrorCode
	Message string
}

// UpdateFeatures decides on one UpdateFeatures request. The updates are made all or none. supported is
// what the software of the controller supports; every registered broker and every voter must support
// a new level too.
// No level can be lowered: what the log has was written at the level that is in force.
func UpdateFeatures(image *Image, supported []FeatureRange, asked []FeatureUpdate,
) (records []Record, outcomes []UpdatedFeature, code kafka.ErrorCode, message string) {
	features := image.Features()
	var faults []string
	outcomes = make([]UpdatedFeature, len(asked))
	for i := range asked {
		u := &asked[i]
		same := func(o FeatureUpdate) bool { return o.Name == u.Name }
		r := judgeFeature(image, supported, u)
		if slices.ContainsFunc(asked[:i], same) || slices.ContainsFunc(asked[i+1:], same) {
			r = refuse(kafka.InvalidRequest, "the request names it twice")
		}
		outcomes[i] = UpdatedFeature{u.Name, r.code, r.text}
		if r.refused() {
			code = r.code
			faults = append(faults, fmt.Sprintf("%s: %s", u.Name, r.text))
		} else if u.Name == FeatureName {
			features.Level = u.Level
		}
	}
	if len(faults) > 0 {
		return nil, outcomes, code, strings.Join(faults, "; ")
	}
	if features != image.Features() {
		invariant.Sometimes(true, invariant.MarkLevelRaised)
		records = []Record{&ClusterRecord{image.ClusterID(), features}}
	}
	return records, outcomes, kafka.None, ""
}

func judgeFeature(image *Image, supported []FeatureRange, u *FeatureUpdate) refusal {
	known := slices.IndexFunc(supported, func(f FeatureRange) bool { return f.Name == u.Name })
	if known < 0 {
		return refuse(kafka.InvalidUpdateVersion, "there is no such feature")
	}
	in := image.FinalizedFeatures()
	now := int16(0)
	if i := slices.IndexFunc(in, func(f FinalizedFeature) bool { return f.Name == u.Name }); i >= 0 {
		now = in[i].Level
	}
	f := supported[known]
	switch {
	case u.Type < Upgrade || u.Type > UnsafeDowngrade:
		return refuse(kafka.InvalidRequest, "there is no upgrade type %d", u.Type)
	case u.Level < f.Min || u.Level > f.Max:
		return refuse(kafka.InvalidUpdateVersion,
			"level %d is not supported by the controller, which supports %d to %d", u.Level, f.Min, f.Max)
	case u.Level < now:
		return refuse(kafka.InvalidUpdateVersion, "level %d is in force, and can not be lowered", now)
	case u.Level > now && u.Type != Upgrade:
		return refuse(kafka.InvalidUpdateVersion, "level %d is no downgrade from %d", u.Level, now)
	case u.Level == now:
		return refusal{}
	}
	for b := range image.Brokers() {
		if !Supports(b.Features, u.Level) {
			invariant.Sometimes(true, invariant.MarkLevelRefused)
			return refuse(kafka.InvalidUpdateVersion,
				"level %d is not supported by broker %d: upgrade its software first", u.Level, b.ID)
		}
	}
	for v := range image.Voters() {
		if !Supports(v.Features, u.Level) {
			invariant.Sometimes(true, invariant.MarkLevelRefused)
			return refuse(kafka.InvalidUpdateVersion,
				"level %d is not supported by controller %d: upgrade its software first", u.Level, v.Node)
		}
	}
	return refusal{}
}
