package metadata

import (
	"fmt"
	"slices"
	"strings"

	"stet/core/kafka"
)

// NewConfig is a setting as a client asks for it.
type NewConfig struct {
	Name  string
	Value *string // nil is refused
}

// checkTopicConfigs returns the settings, sorted by name, and everything that is wrong with them.
func checkTopicConfigs(asked []NewConfig) (out []ConfigEntry, faults []string) {
	for _, c := range asked {
		s, known := kafka.FindTopicSetting(c.Name)
		switch {
		case !known:
			faults = append(faults, fmt.Sprintf("%s: there is no such topic setting", c.Name))
		case c.Value == nil:
			faults = append(faults, fmt.Sprintf("%s: no value is given", c.Name))
		case slices.ContainsFunc(out, func(e ConfigEntry) bool { return e.Name == c.Name }):
			faults = append(faults, fmt.Sprintf("%s: set twice", c.Name))
		default:
			if err := s.Check(*c.Value); err != nil {
				faults = append(faults, err.Error())
			}
			out = append(out, ConfigEntry{c.Name, strings.TrimSpace(*c.Value)})
		}
	}
	slices.SortFunc(out, func(a, b ConfigEntry) int { return strings.Compare(a.Name, b.Name) })
	return out, faults
}

// TopicConfig returns what is in force for a topic with these overrides, where base is what topics
// have that set nothing. An override that this software does not accept, because another version
// did, leaves base in force.
func TopicConfig(base kafka.TopicConfig, overrides []ConfigEntry) kafka.TopicConfig {
	for _, e := range overrides {
		_ = base.Set(e.Name, e.Value)
	}
	return base
}
