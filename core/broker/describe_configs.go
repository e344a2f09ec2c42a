package broker

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeConfigs (key 32), versions 1 to 4: the settings of topics, of this broker, and those set for
// all brokers. What was altered anywhere before the request came is seen: the broker asks the
// controller how far the metadata log goes, and answers when its image has come so far. v3 tells types;
// nothing is documented on the wire, and nothing is secret.

// describing is a request that waits for the image.
type describing struct {
	origin
	wait    *topicWait
	request *kmsg.DescribeConfigsRequest
	known   bool // how far the log goes
}

func (b *Broker) describeConfigs(o origin, m *kmsg.DescribeConfigsRequest) {
	d := &describing{origin: o, request: m}
	d.wait = &topicWait{request: d, reads: true}
	wait := min(b.config.RequestTimeout, mostTopicWait)
	b.forward(new(wire.MetadataIndexRequest), d.wait, int32(wait/time.Millisecond), d)
}

func (d *describing) answered(b *Broker, res any, _ env.Errno) {
	if m, ok := res.(*wire.MetadataIndexResponse); ok && m.ErrorCode == 0 {
		d.known, d.wait.index = true, metadata.Index(m.Index)
	}
	d.wait.decided = true
	b.creates.imageChanged()
}

// finish answers, or says that the time is out.
func (d *describing) finish(b *Broker) {
	d.known = d.known && d.wait.seen(b)
	answer := kmsg.NewPtrDescribeConfigsResponse()
	for i := range d.request.Resources {
		answer.Resources = append(answer.Resources, d.resource(b, &d.request.Resources[i]))
	}
	b.reply(d.origin, answer)
}

func (d *describing) resource(b *Broker, asked *kmsg.DescribeConfigsRequestResource,
) kmsg.DescribeConfigsResponseResource {
	out := kmsg.NewDescribeConfigsResponseResource()
	out.ResourceType, out.ResourceName = asked.ResourceType, asked.ResourceName
	configs, code, why := d.find(b, asked)
	out.ErrorCode = int16(code)
	if why != "" {
		out.ErrorMessage = &why
	}
	for i := range configs {
		// An empty list of names asks for all, as none does (ConfigHelper.describeConfigs).
		if len(asked.ConfigNames) == 0 || slices.Contains(asked.ConfigNames, configs[i].Name) {
			out.Configs = append(out.Configs, d.config(&configs[i]))
		}
	}
	return out
}

// find returns all settings of a resource.
func (d *describing) find(b *Broker, asked *kmsg.DescribeConfigsRequestResource) (
	[]metadata.DescribedConfig, kafka.ErrorCode, string,
) {
	name := asked.ResourceName
	kind := configResource(asked.ResourceType)
	code := b.Authorize(d.conn.info, opDescribeConfigs, kind, name)
	topic := b.image.Topic(name)
	static := b.static.values()
	switch {
	case code != kafka.None:
		return nil, code, ""
	case !d.known:
		return nil, kafka.RequestTimedOut, "the controller did not answer"
	case kind == resourceTopic && name == "":
		return nil, kafka.InvalidRequest, "give the name of a topic"
	case kind == resourceTopic && topic == nil:
		return nil, kafka.UnknownTopicOrPartition, fmt.Sprintf("there is no topic %q", name)
	case kind == resourceTopic:
		return b.image.DescribeTopicConfigs(&static, b.config.NodeID, topic.Configs(),
			topic.ReplicationFactor()), kafka.None, ""
	case asked.ResourceType != kmsg.ConfigResourceTypeBroker:
		return nil, kafka.InvalidRequest,
			fmt.Sprintf("resources of type %d have no settings", asked.ResourceType)
	case name == "":
		return b.image.DescribeBrokerDefaults(), kafka.None, ""
	case name != strconv.Itoa(int(b.config.NodeID)):
		return nil, kafka.InvalidRequest, fmt.Sprintf(
			"this is broker %d, which does not know the settings of broker %q: ask that one",
			b.config.NodeID, name)
	}
	return b.image.DescribeBrokerConfigs(&static, b.config.NodeID), kafka.None, ""
}

func (d *describing) config(c *metadata.DescribedConfig) kmsg.DescribeConfigsResponseResourceConfig {
	out := kmsg.NewDescribeConfigsResponseResourceConfig()
	out.Name, out.Value, out.ReadOnly = c.Name, &c.Value, c.ReadOnly
	out.Source, out.IsDefault = kmsg.ConfigSource(c.Source), c.Source == metadata.SourceDefault
	out.ConfigType = kmsg.ConfigType(c.Type)
	if c.Unset {
		out.Value = nil
	}
	if !d.request.IncludeSynonyms {
		return out
	}
	for i := range c.Synonyms {
		s := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
		s.Name, s.Value = c.Synonyms[i].Name, &c.Synonyms[i].Value
		s.Source = kmsg.ConfigSource(c.Synonyms[i].Source)
		out.ConfigSynonyms = append(out.ConfigSynonyms, s)
	}
	return out
}
