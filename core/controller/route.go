package controller

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// request routes a request to the file of its key.
func (c *Controller) request(r *env.Request) {
	switch body := r.Body.(type) {
	case *kmsg.CreateTopicsRequest:
		c.createTopics(r, body)
	case *kmsg.DeleteTopicsRequest:
		c.deleteTopics(r, body)
	case *kmsg.BrokerRegistrationRequest:
		c.registerBroker(r, body)
	case *kmsg.BrokerHeartbeatRequest:
		c.brokerHeartbeat(r, body)
	case *kmsg.AlterPartitionRequest:
		c.alterPartition(r, body)
	case *kmsg.AllocateProducerIDsRequest:
		c.allocateProducerIDs(r, body)
	case *kmsg.CreatePartitionsRequest:
		c.createPartitions(r, body)
	case *kmsg.IncrementalAlterConfigsRequest:
		c.incrementalAlterConfigs(r, body)
	case *kmsg.AlterConfigsRequest:
		c.alterConfigs(r, body)
	case *kmsg.ElectLeadersRequest:
		c.electLeaders(r, body)
	case *kmsg.AlterPartitionAssignmentsRequest:
		c.alterReassignments(r, body)
	case *kmsg.ListPartitionReassignmentsRequest:
		c.listReassignments(r, body)
	case *kmsg.UpdateFeaturesRequest:
		c.updateFeatures(r, body)
	case *kmsg.DescribeClusterRequest:
		c.describeCluster(r, body)
	case *kmsg.UnregisterBrokerRequest:
		c.unregisterBroker(r, body)
	case *wire.MetadataIndexRequest:
		c.metadataIndex(r)
	case *kmsg.ApiVersionsRequest:
		c.apiVersions(r, body)
	case wire.UnsupportedApiVersions:
		c.unsupportedApiVersions(r)
	case *wire.MetadataFetchRequest:
		c.metadataFetch(r, body)
	case *wire.QuorumHelloRequest:
		c.quorumHello(r, body)
	case *wire.QuorumMessagesRequest:
		c.quorumMessages(r, body)
	case *wire.QuorumSnapshotRequest:
		c.quorumSnapshot(r, body)
	case *kmsg.DescribeQuorumRequest:
		c.describeQuorum(r, body)
	case *kmsg.AddRaftVoterRequest:
		c.addRaftVoter(r, body)
	case *kmsg.RemoveRaftVoterRequest:
		c.removeRaftVoter(r, body)
	case *kmsg.UpdateRaftVoterRequest:
		c.updateRaftVoter(r, body)
	default:
		// The decoder of this listener passes nothing else.
		invariant.Unreachable("a request that the controller does not know")
	}
}

// admits says whether a request may be decided, and decided here; if not, it refuses it.
func (c *Controller) admits(r *env.Request, refuse func(kafka.ErrorCode) kmsg.Response) bool {
	code := c.Authorize(r)
	if code == kafka.None && !c.Ready() {
		c.Metrics.Refused++
		code = kafka.NotController
	}
	if code != kafka.None {
		c.respond(originOf(r), refuse(code))
	}
	return code == kafka.None
}

// Authorize decides whether a request may do what it asks. There are no rules yet, so it may.
func (c *Controller) Authorize(*env.Request) kafka.ErrorCode { return kafka.None }

func pointer(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
