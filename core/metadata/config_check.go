package metadata

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stet/core/kafka"
)

// Check returns what is wrong with a value, or nil.
func (d *ConfigDefinition) Check(value string) error {
	value = strings.TrimSpace(value)
	if err := d.checkType(value); err != nil {
		return fmt.Errorf("%s: %w", d.Name, err)
	}
	if d.fixed && !strings.EqualFold(value, d.Default) {
		return fmt.Errorf("%s: %q is not supported yet, only %q is", d.Name, value, d.Default)
	}
	return nil
}

func (d *ConfigDefinition) checkType(value string) error {
	switch d.Type {
	case ConfigBoolean:
		if lower := strings.ToLower(value); lower != "true" && lower != "false" {
			return fmt.Errorf("%q is neither true nor false", value)
		}
	case ConfigInt, ConfigLong:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < d.least || n > d.most {
			return fmt.Errorf("%q is not an integer from %d to %d", value, d.least, d.most)
		}
	case ConfigDouble:
		if !isFraction(value) {
			return fmt.Errorf("%q is not a number from 0 to 1", value)
		}
	case ConfigString:
		return d.checkChoice(value)
	case ConfigList:
		return d.checkList(value)
	}
	return nil
}

func (d *ConfigDefinition) checkChoice(value string) error {
	for one := range strings.SplitSeq(d.choices, ",") {
		if one == value {
			return nil
		}
	}
	return fmt.Errorf("%q is none of %s", value, d.choices)
}

// checkList accepts an empty list: since Kafka 4.2 an empty cleanup.policy keeps for ever.
func (d *ConfigDefinition) checkList(value string) error {
	if d.choices == "" || value == "" {
		return nil
	}
	var seen []string
	for element := range strings.SplitSeq(value, ",") {
		element = strings.TrimSpace(element)
		if err := d.checkChoice(element); err != nil {
			return err
		}
		if slices.Contains(seen, element) {
			return fmt.Errorf("%q is named twice", element)
		}
		seen = append(seen, element)
	}
	return nil
}

// isFraction says whether s is a decimal number from 0 to 1, without going through a float.
func isFraction(s string) bool {
	whole, digits, _ := strings.Cut(s, ".")
	if whole == "" && digits == "" {
		return false
	}
	for _, c := range []byte(whole + digits) {
		if c < '0' || c > '9' {
			return false
		}
	}
	whole = strings.TrimLeft(whole, "0")
	return whole == "" || whole == "1" && strings.Trim(digits, "0") == ""
}

// NewConfig is a setting as a client asks for it.
type NewConfig struct {
	Name  string
	Value *string // nil is refused
}

// checkTopicConfigs returns the settings, sorted by name, or everything that is wrong with them.
func checkTopicConfigs(asked []NewConfig) ([]ConfigEntry, error) {
	var faults []string
	var out []ConfigEntry
	for _, c := range asked {
		d, known := TopicConfig(c.Name)
		switch {
		case !known:
			faults = append(faults, fmt.Sprintf("%s: there is no such topic setting", c.Name))
		case c.Value == nil:
			faults = append(faults, fmt.Sprintf("%s: no value is given", c.Name))
		case slices.ContainsFunc(out, func(e ConfigEntry) bool { return e.Name == c.Name }):
			faults = append(faults, fmt.Sprintf("%s: set twice", c.Name))
		default:
			if err := d.Check(*c.Value); err != nil {
				faults = append(faults, err.Error())
			}
			out = append(out, ConfigEntry{c.Name, strings.TrimSpace(*c.Value)})
		}
	}
	slices.SortFunc(out, func(a, b ConfigEntry) int { return strings.Compare(a.Name, b.Name) })
	if len(faults) == 0 {
		faults = checkTogether(out)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(faults, "; "))
	}
	return out, nil
}

// checkTogether refuses values that contradict each other (LogConfig.validate).
func checkTogether(entries []ConfigEntry) []string {
	var faults []string
	if lagAt := effectiveLong(entries, "min.compaction.lag.ms"); lagAt >
		effectiveLong(entries, "max.compaction.lag.ms") {
		faults = append(faults, "min.compaction.lag.ms is above max.compaction.lag.ms")
	}
	for _, unit := range []string{"ms", "bytes"} {
		local := effectiveLong(entries, "local.retention."+unit)
		total := effectiveLong(entries, "retention."+unit)
		if local != -2 && total != -1 && (local == -1 || local > total) {
			faults = append(faults, "local.retention."+unit+" is above retention."+unit)
		}
	}
	return faults
}

// effectiveLong returns a setting that has been checked, or its default.
func effectiveLong(entries []ConfigEntry, name string) int64 {
	d, _ := TopicConfig(name)
	value := d.Default
	for _, e := range entries {
		if e.Name == name {
			value = e.Value
		}
	}
	n, _ := strconv.ParseInt(value, 10, 64)
	return n
}

// DefaultMinInsyncReplicas is the min.insync.replicas of a topic for which nothing else is set: two
// copies where there are three, else one.
func DefaultMinInsyncReplicas(replicationFactor int) int {
	if replicationFactor >= 3 {
		return 2
	}
	return 1
}

// EffectiveConfig is a setting in force, and whether the topic set it itself.
type EffectiveConfig struct {
	ConfigDefinition
	Value    string
	Override bool
}

// EffectiveTopicConfigs returns all settings of a topic with these overrides, by ascending name.
func EffectiveTopicConfigs(overrides []ConfigEntry, replicationFactor int) []EffectiveConfig {
	out := make([]EffectiveConfig, len(topicConfigs))
	for i, d := range TopicConfigs() {
		out[i] = EffectiveConfig{d, d.Default, false}
		if d.Name == "min.insync.replicas" {
			out[i].Value = strconv.Itoa(DefaultMinInsyncReplicas(replicationFactor))
		}
		for _, e := range overrides {
			if e.Name == d.Name {
				out[i].Value, out[i].Override = e.Value, true
			}
		}
	}
	return out
}

// refusal is an outcome other than success: a code, and a text for people.
type refusal struct {
	code kafka.ErrorCode
	text string
}

func refuse(code kafka.ErrorCode, format string, args ...any) refusal {
	return refusal{code, fmt.Sprintf(format, args...)}
}

func (r refusal) refused() bool { return r.code != kafka.None }
