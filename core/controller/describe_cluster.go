package controller

import (
	"math"
	"slices"

	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeCluster (key 60), versions 0 to 2, on the controller's listener (KIP-919): the controllers
// and which of them leads, as far as this one knows. Who asks for brokers, as version 0 always does,
// is at the wrong listener.

// endpointControllers is what the request must ask for.
const endpointControllers int8 = 2

func (c *Controller) describeCluster(r *env.Request, m *kmsg.DescribeClusterRequest) {
	answer := kmsg.NewPtrDescribeClusterResponse()
	answer.ControllerID, answer.ClusterAuthorizedOperations = -1, math.MinInt32
	answer.EndpointType = endpointControllers
	code := c.Authorize(r)
	if code == kafka.None && (r.Version == 0 || m.EndpointType != endpointControllers) {
		code = kafka.MismatchedEndpointType
		why := "this is a controller, it tells controllers only: ask a broker for brokers"
		answer.ErrorMessage = &why
	}
	if answer.ErrorCode = int16(code); code != kafka.None {
		c.respond(originOf(r), answer)
		return
	}
	answer.ClusterID = c.image.ClusterID()
	answer.ControllerID = int32(c.leaderID())
	for v := range c.image.Voters() {
		if len(v.Endpoints) == 0 {
			continue // the one of this process, which nobody else can reach
		}
		listed := kmsg.NewDescribeClusterResponseBroker()
		listed.NodeID = int32(v.Node)
		listed.Host, listed.Port = v.Endpoints[0].Host, int32(v.Endpoints[0].Port)
		answer.Brokers = append(answer.Brokers, listed)
	}
	slices.SortStableFunc(answer.Brokers, func(a, b kmsg.DescribeClusterResponseBroker) int {
		return int(a.NodeID) - int(b.NodeID)
	})
	c.respond(originOf(r), answer)
}
