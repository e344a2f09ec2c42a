package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/sim"
)

// Server is a listener that a client may dial.
type Server struct {
	Place sim.Place
	Addr  string
}

// Administrator asks the nodes of a cluster to change and to tell its metadata, one request at a time.
// It keeps a connection for as long as that answers, and goes to another server when it does not.
// Every call is one request: whoever wants a retry calls again. A code is that of the answer, or
// NetworkException when there was none; then the request may take effect, now or later.
type Administrator struct {
	Host    *Host
	Servers []Server

	conn *Conn
	at   int // the server of conn
}

// Close gives the connection up.
func (a *Administrator) Close() {
	if a.conn != nil {
		a.conn.Close()
		a.conn = nil
	}
}

// Prefer has the next request go to the server at a place, if there is one.
func (a *Administrator) Prefer(p sim.Place) {
	i := slices.IndexFunc(a.Servers, func(s Server) bool { return s.Place == p })
	if i >= 0 && (i != a.at || a.conn == nil) {
		a.Close()
		a.conn, a.at = a.Host.dialTo(a.Servers[i]), i
	}
}

// ask sends a request and returns the answer, nil if there is none.
func (a *Administrator) ask(r kmsg.Request) kmsg.Response {
	if a.conn == nil || a.conn.Closed() {
		a.at = a.Host.Stream.Index(len(a.Servers))
		a.conn = a.Host.dialTo(a.Servers[a.at])
	}
	res := a.conn.Call(r)
	if res == nil {
		a.Close()
	}
	return res
}

// NewTopic is a topic to create.
type NewTopic struct {
	Name       string
	Partitions int32
	Replicas   int16
	Key, Value string // a setting, if Key is not empty
	Validate   bool   // only
}

// CreateTopic creates a topic and returns its id.
func (a *Administrator) CreateTopic(n NewTopic) (id kafka.TopicID, code kafka.ErrorCode) {
	r := kmsg.NewPtrCreateTopicsRequest()
	r.Version, r.TimeoutMillis, r.ValidateOnly = 7, 5000, n.Validate
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = n.Name, n.Partitions, n.Replicas
	if n.Key != "" {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = n.Key, &n.Value
		t.Configs = append(t.Configs, c)
	}
	r.Topics = append(r.Topics, t)
	res, ok := a.ask(r).(*kmsg.CreateTopicsResponse)
	if !ok || !a.expect("CreateTopics", len(res.Topics)) {
		return id, kafka.NetworkException
	}
	return res.Topics[0].TopicID, kafka.ErrorCode(res.Topics[0].ErrorCode)
}

// expect says whether an answer has one element, as what was asked.
func (a *Administrator) expect(what string, n int) bool {
	if n != 1 {
		a.Host.Observer.Trouble(fmt.Sprintf("%s response with %d elements instead of one", what, n))
	}
	return n == 1
}

// DeleteTopic deletes the topic of an id, or of a name if the id is zero.
func (a *Administrator) DeleteTopic(name string, id kafka.TopicID) kafka.ErrorCode {
	r := kmsg.NewPtrDeleteTopicsRequest()
	r.Version, r.TimeoutMillis = 6, 5000
	t := kmsg.NewDeleteTopicsRequestTopic()
	if t.TopicID = id; id == (kafka.TopicID{}) {
		t.Topic = &name
	}
	r.Topics = append(r.Topics, t)
	res, ok := a.ask(r).(*kmsg.DeleteTopicsResponse)
	if !ok || !a.expect("DeleteTopics", len(res.Topics)) {
		return kafka.NetworkException
	}
	return kafka.ErrorCode(res.Topics[0].ErrorCode)
}

// GrowTopic gives a topic more partitions: count in the end.
func (a *Administrator) GrowTopic(name string, count int32) kafka.ErrorCode {
	r := kmsg.NewPtrCreatePartitionsRequest()
	r.Version, r.TimeoutMillis = 3, 5000
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = name, count
	r.Topics = append(r.Topics, t)
	res, ok := a.ask(r).(*kmsg.CreatePartitionsResponse)
	if !ok || !a.expect("CreatePartitions", len(res.Topics)) {
		return kafka.NetworkException
	}
	return kafka.ErrorCode(res.Topics[0].ErrorCode)
}

// Set writes a setting of a topic or a broker.
func (a *Administrator) Set(of kmsg.ConfigResourceType, name, key, value string) kafka.ErrorCode {
	r := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r.Version = 1
	x := kmsg.NewIncrementalAlterConfigsRequestResource()
	x.ResourceType, x.ResourceName = of, name
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Value = key, &value
	x.Configs = append(x.Configs, c)
	r.Resources = append(r.Resources, x)
	res, ok := a.ask(r).(*kmsg.IncrementalAlterConfigsResponse)
	if !ok || !a.expect("IncrementalAlterConfigs", len(res.Resources)) {
		return kafka.NetworkException
	}
	return kafka.ErrorCode(res.Resources[0].ErrorCode)
}

// Get reads a setting of a topic or a broker; it is empty where nobody has set it.
func (a *Administrator) Get(of kmsg.ConfigResourceType, name, key string) (string, kafka.ErrorCode) {
	r := kmsg.NewPtrDescribeConfigsRequest()
	r.Version = 4
	x := kmsg.NewDescribeConfigsRequestResource()
	x.ResourceType, x.ResourceName, x.ConfigNames = of, name, []string{key}
	r.Resources = append(r.Resources, x)
	res, ok := a.ask(r).(*kmsg.DescribeConfigsResponse)
	if !ok || !a.expect("DescribeConfigs", len(res.Resources)) {
		return "", kafka.NetworkException
	}
	if code := kafka.ErrorCode(res.Resources[0].ErrorCode); code != kafka.None {
		return "", code
	}
	for _, c := range res.Resources[0].Configs {
		dynamic := c.Source == kmsg.ConfigSourceDynamicTopicConfig || c.Source == kmsg.ConfigSourceDynamicBrokerConfig
		if c.Name == key && dynamic && c.Value != nil {
			return *c.Value, kafka.None
		}
	}
	return "", kafka.None
}

// ProducerID asks for a producer id.
func (a *Administrator) ProducerID() (kafka.ProducerID, kafka.ErrorCode) {
	r := kmsg.NewPtrInitProducerIDRequest()
	r.Version, r.TransactionTimeoutMillis = 4, 60_000
	res, ok := a.ask(r).(*kmsg.InitProducerIDResponse)
	if !ok {
		return kafka.NoProducerID, kafka.NetworkException
	}
	return kafka.ProducerID(res.ProducerID), kafka.ErrorCode(res.ErrorCode)
}

// SetLevel sets the level of a feature; way is the upgrade type: 1 up, 2 down, 3 down unsafely.
func (a *Administrator) SetLevel(feature string, level int16, way int8) kafka.ErrorCode {
	r := kmsg.NewPtrUpdateFeaturesRequest()
	r.Version, r.TimeoutMillis = 1, 5000
	f := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	f.Feature, f.MaxVersionLevel, f.UpgradeType = feature, level, way
	r.FeatureUpdates = append(r.FeatureUpdates, f)
	res, ok := a.ask(r).(*kmsg.UpdateFeaturesResponse)
	if !ok {
		return kafka.NetworkException
	}
	if code := kafka.ErrorCode(res.ErrorCode); code != kafka.None || len(res.Results) == 0 {
		return code
	}
	return kafka.ErrorCode(res.Results[0].ErrorCode)
}
