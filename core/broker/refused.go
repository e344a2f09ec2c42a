package broker

import (
	"stet/core/kafka"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// refusedWhole says whether a controller has answered that it does not lead, and so has done nothing
// and will do nothing. One that stops to lead after it has proposed says REQUEST_TIMED_OUT instead.
// Answers to changes of the quorum itself are not read so: they do not tell the two apart.
func refusedWhole(res any) bool {
	code := int16(kafka.None)
	switch m := res.(type) {
	case *kmsg.CreateTopicsResponse:
		if len(m.Topics) > 0 {
			code = m.Topics[0].ErrorCode
		}
	case *kmsg.DeleteTopicsResponse:
		if len(m.Topics) > 0 {
			code = m.Topics[0].ErrorCode
		}
	case *kmsg.CreatePartitionsResponse:
		if len(m.Topics) > 0 {
			code = m.Topics[0].ErrorCode
		}
	case *kmsg.IncrementalAlterConfigsResponse:
		if len(m.Resources) > 0 {
			code = m.Resources[0].ErrorCode
		}
	case *kmsg.AlterConfigsResponse:
		if len(m.Resources) > 0 {
			code = m.Resources[0].ErrorCode
		}
	case *kmsg.ElectLeadersResponse:
		if code = m.ErrorCode; m.Version == 0 && len(m.Topics) > 0 && len(m.Topics[0].Partitions) > 0 {
			code = m.Topics[0].Partitions[0].ErrorCode
		}
	case *kmsg.AlterPartitionAssignmentsResponse:
		code = m.ErrorCode
	case *kmsg.ListPartitionReassignmentsResponse:
		code = m.ErrorCode
	case *kmsg.UpdateFeaturesResponse:
		code = m.ErrorCode
	case *kmsg.UnregisterBrokerResponse:
		code = m.ErrorCode
	case *kmsg.DescribeQuorumResponse:
		code = m.ErrorCode
	case *wire.MetadataIndexResponse:
		code = m.ErrorCode
	}
	return kafka.ErrorCode(code) == kafka.NotController
}
