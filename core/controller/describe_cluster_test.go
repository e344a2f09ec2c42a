package controller

import (
	"testing"
	"time"

	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// answerOf asks one machine and lets time pass until it answers.
func (s *cluster) answerOf(m *machine, body kmsg.Request) (answer kmsg.Response) {
	m.ask(body, func(r kmsg.Response) { answer = r })
	require.True(s.t, s.until(time.Minute, func() bool { return answer != nil }))
	return answer
}

func clusterRequest(version int16, kind int8) *kmsg.DescribeClusterRequest {
	m := kmsg.NewPtrDescribeClusterRequest()
	m.Version, m.EndpointType = version, kind
	return m
}

func TestEveryControllerTellsAllAndWhoLeads(t *testing.T) {
	s := newCluster(t, 1, 3)
	s.startAll()
	told := func() bool { // the image of a follower may be behind
		for _, m := range s.machines {
			answer := s.answerOf(m, clusterRequest(2, 2)).(*kmsg.DescribeClusterResponse)
			if len(answer.Brokers) != 3 || answer.ControllerID < 0 {
				return false
			}
		}
		return true
	}
	require.True(t, s.until(time.Minute, told))
	for _, m := range s.machines {
		answer := s.answerOf(m, clusterRequest(1, 2)).(*kmsg.DescribeClusterResponse)
		require.Equal(t, s.leader().c.Image().ClusterID(), answer.ClusterID)
		require.EqualValues(t, s.leader().node, answer.ControllerID)
		for i, listed := range answer.Brokers {
			require.EqualValues(t, i+1, listed.NodeID)
			require.Equal(t, address(i+1), kafka.JoinHostPort(listed.Host, listed.Port))
		}
		for _, wrong := range []*kmsg.DescribeClusterRequest{
			clusterRequest(0, 2), clusterRequest(1, 1), clusterRequest(2, 1),
		} {
			answer := s.answerOf(m, wrong).(*kmsg.DescribeClusterResponse)
			require.Equal(t, kafka.MismatchedEndpointType, kafka.ErrorCode(answer.ErrorCode))
			require.Empty(t, answer.Brokers)
		}
		versions := kmsg.NewPtrApiVersionsRequest()
		versions.Version, versions.ClientSoftwareName, versions.ClientSoftwareVersion = 4, "test", "1"
		features := s.answerOf(m, versions).(*kmsg.ApiVersionsResponse)
		require.Len(t, features.SupportedFeatures, len(metadata.BuildLevels().Advertised()))
		require.Len(t, features.FinalizedFeatures, len(metadata.BuildLevels().Advertised()))
	}
}
