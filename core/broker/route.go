package broker

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// request routes a request to the handler of its key. The decoder lets no other key pass.
func (b *Broker) request(ev *env.Event) {
	r := ev.Req
	if r.Key >= 0 && r.Key < maxKey {
		b.Metrics.Requests[r.Key]++
	}
	o := b.originOf(r)
	switch body := r.Body.(type) {
	case *wire.ProduceRequest:
		b.produce(r, o, body)
	case *wire.FetchRequest:
		b.fetch(r, o, body)
	case *kmsg.ListOffsetsRequest:
		b.listOffsets(r, o, body)
	case *kmsg.MetadataRequest:
		b.metadata(r, o, body)
	case *kmsg.ApiVersionsRequest:
		b.apiVersions(r, o, body)
	case wire.UnsupportedApiVersions:
		b.unsupportedApiVersions(o)
	case *kmsg.CreateTopicsRequest:
		b.createTopics(r, o, body)
	case *kmsg.DeleteTopicsRequest:
		b.deleteTopics(r, o, body)
	case *kmsg.InitProducerIDRequest:
		b.initProducerID(r, o, body)
	case *kmsg.CreatePartitionsRequest:
		b.createPartitions(r, o, body)
	case *kmsg.DescribeConfigsRequest:
		b.describeConfigs(o, body)
	case *kmsg.AlterConfigsRequest:
		b.alterConfigs(r, o, body)
	case *kmsg.IncrementalAlterConfigsRequest:
		b.incrementalAlterConfigs(r, o, body)
	case *kmsg.ElectLeadersRequest:
		b.electLeaders(r, o, body)
	case *kmsg.AlterPartitionAssignmentsRequest:
		b.alterReassignments(r, o, body)
	case *kmsg.ListPartitionReassignmentsRequest:
		b.listReassignments(r, o, body)
	case *kmsg.UpdateFeaturesRequest:
		b.updateFeatures(r, o, body)
	case *kmsg.DescribeClusterRequest:
		b.describeCluster(r, o, body)
	case *kmsg.UnregisterBrokerRequest:
		b.unregisterBroker(r, o, body)
	case *kmsg.ListConfigResourcesRequest:
		b.listConfigResources(r, o, body)
	case *kmsg.DescribeTopicPartitionsRequest:
		b.describeTopicPartitions(r, o, body)
	case *kmsg.OffsetForLeaderEpochRequest:
		b.offsetForLeaderEpoch(r, o, body)
	case *kmsg.DescribeLogDirsRequest:
		b.describeLogDirs(r, o, body)
	case *wire.ReplicaStatusRequest:
		b.replicaStatus(r, o, body)
	case *kmsg.DescribeQuorumRequest:
		b.describeQuorum(r, o, body)
	case *kmsg.AddRaftVoterRequest:
		b.addRaftVoter(r, o, body)
	case *kmsg.RemoveRaftVoterRequest:
		b.removeRaftVoter(r, o, body)
	default:
		invariant.Unreachable("a request without a handler was decoded")
	}
}
