package broker

import (
	"math"

	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeCluster (key 60), versions 0 to 2: the brokers, at the listener that the request came in on.
// v1 may ask for controllers, which a broker does not tell (KIP-919: they are asked themselves); v2 may
// ask for fenced brokers too (KIP-1073).

// What DescribeCluster may ask for.
const (
	endpointBrokers     int8 = 1
	endpointControllers int8 = 2
)

func (b *Broker) describeCluster(r *env.Request, o origin, m *kmsg.DescribeClusterRequest) {
	answer := kmsg.NewPtrDescribeClusterResponse()
	answer.ControllerID, answer.ClusterAuthorizedOperations = -1, math.MinInt32
	answer.EndpointType = endpointBrokers
	code := b.Authorize(r.Info, opDescribe, resourceCluster, "")
	why := ""
	switch {
	case code != kafka.None:
	case r.Version >= 1 && m.EndpointType == endpointControllers:
		code, why = kafka.MismatchedEndpointType, "this is a broker: ask a controller for controllers"
	case r.Version >= 1 && m.EndpointType != endpointBrokers:
		code, why = kafka.UnsupportedEndpointType, "there are brokers, type 1, and controllers, type 2"
	}
	if code != kafka.None {
		answer.ErrorCode, answer.ErrorMessage = int16(code), &why
		b.reply(o, answer)
		return
	}
	answer.ClusterID = b.image.ClusterID()
	if m.IncludeClusterAuthorizedOperations {
		answer.ClusterAuthorizedOperations = clusterOperations
	}
	answer.ControllerID = int32(b.forwarder(r.Info))
	for broker := range b.image.Brokers() {
		e, ok := endpointFor(r.Info, broker)
		if !ok || broker.Fenced && !(r.Version >= 2 && m.IncludeFencedBrokers) {
			continue
		}
		listed := kmsg.NewDescribeClusterResponseBroker()
		listed.NodeID, listed.Host, listed.Port = int32(broker.ID), e.Host, int32(e.Port)
		listed.IsFenced = broker.Fenced
		if broker.Rack != "" {
			listed.Rack = &broker.Rack
		}
		answer.Brokers = append(answer.Brokers, listed)
	}
	b.reply(o, answer)
}

// forwarder returns the broker that clients of a listener are told is the controller: this one, which
// forwards what is for the controller, or another if this one can not be reached.
func (b *Broker) forwarder(info *env.ConnInfo) kafka.BrokerID {
	id := kafka.NoBroker
	for broker := range b.image.Brokers() {
		if _, ok := endpointFor(info, broker); ok && !broker.Fenced &&
			(id == kafka.NoBroker || broker.ID == b.config.NodeID) {
			id = broker.ID
		}
	}
	return id
}
