package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/kafka"
	"stet/node"
)

// fillSettings gives every flag that the command line did not set its value from the environment
// or the configuration file. It names all faults at once.
func fillSettings(flags *pflag.FlagSet, f *serveFlags) error {
	var faults []error
	fromFlags := f.Set
	file, err := readConfig(configPath(flags, f))
	if err != nil {
		return err
	}
	faults = append(faults, file.faults...)
	flags.VisitAll(func(flag *pflag.Flag) {
		value, known := file.keys[flag.Name]
		delete(file.keys, flag.Name)
		if env, ok := os.LookupEnv(envName(flag.Name)); ok {
			value, known = env, true
		}
		if flag.Changed || !known || flag.Name == "config" || flag.Name == "set" {
			return
		}
		if err := flags.Set(flag.Name, value); err != nil {
			faults = append(faults, fmt.Errorf("setting %s: %q: %w", flag.Name, value, err))
		}
	})
	for _, key := range slices.Sorted(maps.Keys(file.keys)) {
		faults = append(faults, fmt.Errorf("setting %s: %s: no such setting", key, f.Config))
	}
	f.Set = append(append(file.set, strings.Fields(os.Getenv("STET_SET"))...), fromFlags...)
	return errors.Join(faults...)
}

func envName(flag string) string {
	return "STET_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func configPath(flags *pflag.FlagSet, f *serveFlags) string {
	if !flags.Changed("config") {
		f.Config = os.Getenv("STET_CONFIG")
	}
	return f.Config
}

// configFile is a YAML file of settings: flags by name, and Kafka's names under set.
type configFile struct {
	path   string
	keys   map[string]string
	set    []string // KEY=VALUE, sorted
	faults []error  // keys whose value has the wrong shape
}

func readConfig(path string) (configFile, error) {
	file := configFile{path: path, keys: map[string]string{}}
	if path == "" {
		return file, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return file, fmt.Errorf("config: %w", err)
	}
	var doc map[string]yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return file, fmt.Errorf("config: %s: %w", path, err)
	}
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		value := doc[key]
		file.take(key, &value)
	}
	return file, nil
}

// take notes one key of the file.
func (file *configFile) take(key string, value *yaml.Node) {
	if key != "set" {
		if value.Kind != yaml.ScalarNode {
			file.faults = append(file.faults,
				fmt.Errorf("setting %s: %s: give one value", key, file.path))
			return
		}
		file.keys[key] = value.Value
		return
	}
	var set map[string]string
	if err := value.Decode(&set); err != nil {
		file.faults = append(file.faults,
			fmt.Errorf("setting set: %s: give a map of Kafka names", file.path))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		file.set = append(file.set, name+"="+set[name])
	}
}

// nodeConfig turns settings into a node's configuration and its listeners. It names all faults at
// once.
func nodeConfig(f *serveFlags) (*node.Config, *kafka.ListenerPlan, error) {
	c := &node.Config{
		Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig(),
		RequestBudgetBytes: 256 << 20, MaxFrameBytes: 100 << 20,
	}
	c.Broker.NodeID = kafka.BrokerID(f.NodeID)
	c.Broker.Rack = f.Rack
	c.Controller.NodeID = c.Broker.NodeID
	var faults []error
	var listeners kafka.ListenerSettings
	if f.NodeID < 0 {
		faults = append(faults, fmt.Errorf("setting node-id: %d: give 0 or more", f.NodeID))
	}
	for _, pair := range f.Set {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			faults = append(faults, fmt.Errorf("setting set: %q: give KEY=VALUE", pair))
			continue
		}
		value = strings.TrimSpace(value)
		known, err := setClusterName(c, &listeners, name, value)
		if !known {
			err = setKafkaName(c, name, value)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("setting %s: %w", name, err))
		}
	}
	plan, err := clusterConfig(c, f, &listeners)
	return c, plan, errors.Join(append(faults, err, judgeTimes(c))...)
}

// setKafkaName applies one broker setting under Kafka's name. Defaults of topics go by the topic's
// name too, and without Kafka's "log." in front.
func setKafkaName(c *node.Config, name, value string) error {
	switch name {
	case "socket.request.max.bytes":
		return setInt(&c.MaxFrameBytes, value, 1, 1<<31-1)
	case "queued.max.request.bytes":
		return setInt(&c.RequestBudgetBytes, value, 1, 1<<40)
	case "node.id", "broker.rack", "log.dirs":
		return errors.New("give it as a flag: node-id, rack, data-dir")
	}
	if t, known := kafka.FindTopicSetting(strings.TrimPrefix(name, "log.")); known {
		if name = t.BrokerName(); name == "" { // nothing to set, but the value that is true anyway
			return t.Check(value)
		}
	}
	if err := c.Broker.Set(name, value); err != nil {
		return err
	}
	k := &c.Controller
	k.Topic, k.NumPartitions = c.Broker.Topic, c.Broker.NumPartitions
	k.DefaultReplicationFactor, k.Rebalance = c.Broker.DefaultReplicationFactor, c.Broker.Rebalance
	return nil
}

func setBool(to *bool, value string) error {
	b, err := strconv.ParseBool(value)
	if err != nil {
		return fmt.Errorf("%q: give true or false", value)
	}
	*to = b
	return nil
}

func setInt[T ~int | ~int16 | ~int32 | ~int64](to *T, value string, least, most int64) error {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%q: give an integer from %d to %d", value, least, most)
	}
	*to = T(n)
	return nil
}
