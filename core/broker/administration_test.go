package broker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/wire"
)

// administer decides with the decisions of the real controller.
func (c *standIn) administer(body any) kmsg.Response {
	if c.refuses > 0 {
		c.refuses--
		return refusing(body)
	}
	switch m := body.(type) {
	case *wire.MetadataIndexRequest:
		return &wire.MetadataIndexResponse{Index: int64(c.image.Index())}
	case *kmsg.CreatePartitionsRequest:
		r := kmsg.NewPtrCreatePartitionsResponse()
		for _, t := range m.Topics {
			asked := []metadata.MorePartitions{{Topic: t.Topic, Count: t.Count}}
			records, out := metadata.CreatePartitions(c.image, asked, rand.New(rand.NewPCG(1, 1)))
			a := kmsg.NewCreatePartitionsResponseTopic()
			a.Topic, a.ErrorCode = t.Topic, int16(out[0].Error)
			r.Topics = append(r.Topics, a)
			if len(records) > 0 && !m.ValidateOnly {
				c.commit(records...)
			}
		}
		return r
	case *kmsg.IncrementalAlterConfigsRequest:
		r := kmsg.NewPtrIncrementalAlterConfigsResponse()
		for _, a := range m.Resources {
			change := metadata.ResourceChange{
				Resource: metadata.Resource{Type: metadata.ResourceType(a.ResourceType), Name: a.ResourceName},
			}
			for _, e := range a.Configs {
				change.Changes = append(change.Changes,
					metadata.ConfigChange{Name: e.Name, Op: metadata.ConfigOp(e.Op), Value: e.Value})
			}
			records, out := metadata.AlterConfigs(c.image, []metadata.ResourceChange{change})
			t := kmsg.NewIncrementalAlterConfigsResponseResource()
			t.ResourceType, t.ResourceName, t.ErrorCode = a.ResourceType, a.ResourceName, int16(out[0].Error)
			r.Resources = append(r.Resources, t)
			if len(records) > 0 {
				c.commit(records...)
			}
		}
		return r
	case *kmsg.AlterConfigsRequest:
		r := kmsg.NewPtrAlterConfigsResponse()
		t := kmsg.NewAlterConfigsResponseResource()
		t.ResourceName, t.ErrorCode = m.Resources[0].ResourceName, int16(kafka.InvalidConfig)
		r.Resources = append(r.Resources, t)
		return r
	case *kmsg.ElectLeadersRequest:
		r := kmsg.NewPtrElectLeadersResponse()
		r.Topics = append(r.Topics, electedTopic(kafka.ElectionNotNeeded))
		return r
	case *kmsg.AlterPartitionAssignmentsRequest:
		r := kmsg.NewPtrAlterPartitionAssignmentsResponse()
		r.ErrorCode = int16(kafka.UnsupportedVersion)
		return r
	case *kmsg.ListPartitionReassignmentsRequest:
		return kmsg.NewPtrListPartitionReassignmentsResponse()
	case *kmsg.UpdateFeaturesRequest:
		r := kmsg.NewPtrUpdateFeaturesResponse()
		r.ErrorCode = int16(kafka.InvalidUpdateVersion)
		return r
	case *kmsg.UnregisterBrokerRequest:
		r := kmsg.NewPtrUnregisterBrokerResponse()
		r.ErrorCode = int16(kafka.BrokerIDNotRegistered)
		return r
	case *kmsg.DescribeQuorumRequest:
		r := kmsg.NewPtrDescribeQuorumResponse()
		r.ErrorCode = int16(kafka.UnknownTopicOrPartition)
		return r
	case *kmsg.AddRaftVoterRequest:
		r := kmsg.NewPtrAddRaftVoterResponse()
		r.ErrorCode = int16(kafka.DuplicateVoter)
		return r
	case *kmsg.RemoveRaftVoterRequest:
		r := kmsg.NewPtrRemoveRaftVoterResponse()
		r.ErrorCode = int16(kafka.VoterNotFound)
		return r
	}
	panic(fmt.Sprintf("stand-in controller: %T", body))
}

func electedTopic(code kafka.ErrorCode) kmsg.ElectLeadersResponseTopic {
	return kmsg.ElectLeadersResponseTopic{Topic: "a", Partitions: []kmsg.ElectLeadersResponseTopicPartition{
		{ErrorCode: int16(code)},
	}}
}

// electing asks for the preferred leader of partition 0 of topic a.
func electing(version int16) *kmsg.ElectLeadersRequest {
	m := kmsg.NewPtrElectLeadersRequest()
	m.Version, m.TimeoutMillis = version, 5000
	m.Topics = append(m.Topics, kmsg.ElectLeadersRequestTopic{Topic: "a", Partitions: []int32{0}})
	return m
}

// reassigning asks for the replicas of no partition, and for what is under way.
func reassigning() (*kmsg.AlterPartitionAssignmentsRequest, *kmsg.ListPartitionReassignmentsRequest) {
	a, l := kmsg.NewPtrAlterPartitionAssignmentsRequest(), kmsg.NewPtrListPartitionReassignmentsRequest()
	a.Version, a.TimeoutMillis, l.TimeoutMillis = 1, 5000, 5000
	return a, l
}

// refusing answers as a controller that does not lead.
func refusing(body any) kmsg.Response {
	const code = int16(kafka.NotController)
	switch m := body.(type) {
	case *wire.MetadataIndexRequest:
		return &wire.MetadataIndexResponse{ErrorCode: code, Index: -1}
	case *kmsg.CreatePartitionsRequest:
		r := kmsg.NewPtrCreatePartitionsResponse()
		r.Topics = append(r.Topics, kmsg.CreatePartitionsResponseTopic{Topic: m.Topics[0].Topic, ErrorCode: code})
		return r
	case *kmsg.IncrementalAlterConfigsRequest:
		r := kmsg.NewPtrIncrementalAlterConfigsResponse()
		r.Resources = append(r.Resources, kmsg.IncrementalAlterConfigsResponseResource{ErrorCode: code})
		return r
	case *kmsg.AlterConfigsRequest:
		r := kmsg.NewPtrAlterConfigsResponse()
		r.Resources = append(r.Resources, kmsg.AlterConfigsResponseResource{ErrorCode: code})
		return r
	case *kmsg.ElectLeadersRequest:
		r := &kmsg.ElectLeadersResponse{ErrorCode: code}
		r.Topics = append(r.Topics, electedTopic(kafka.NotController))
		return r
	case *kmsg.AlterPartitionAssignmentsRequest:
		return &kmsg.AlterPartitionAssignmentsResponse{ErrorCode: code}
	case *kmsg.ListPartitionReassignmentsRequest:
		return &kmsg.ListPartitionReassignmentsResponse{ErrorCode: code}
	case *kmsg.UpdateFeaturesRequest:
		return &kmsg.UpdateFeaturesResponse{ErrorCode: code}
	case *kmsg.UnregisterBrokerRequest:
		return &kmsg.UnregisterBrokerResponse{ErrorCode: code}
	case *kmsg.DescribeQuorumRequest:
		return &kmsg.DescribeQuorumResponse{ErrorCode: code}
	case *kmsg.AddRaftVoterRequest:
		return &kmsg.AddRaftVoterResponse{ErrorCode: code}
	case *kmsg.RemoveRaftVoterRequest:
		return &kmsg.RemoveRaftVoterResponse{ErrorCode: code}
	}
	panic(fmt.Sprintf("stand-in controller: %T", body))
}

// call asks and returns the answer when everything has come to rest.
func (h *harness) call(m kmsg.Request) kmsg.Response {
	h.t.Helper()
	h.ask(7, m)
	h.deliver()
	return h.one()
}

func growing(topic string, count int32) *kmsg.CreatePartitionsRequest {
	m := kmsg.NewPtrCreatePartitionsRequest()
	m.Version, m.TimeoutMillis = 3, 5000
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = topic, count
	m.Topics = append(m.Topics, t)
	return m
}

func altering(kind kmsg.ConfigResourceType, name string, pairs ...string,
) *kmsg.IncrementalAlterConfigsRequest {
	m := kmsg.NewPtrIncrementalAlterConfigsRequest()
	m.Version = 1
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for i := 0; i < len(pairs); i += 2 {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = pairs[i], &pairs[i+1]
		r.Configs = append(r.Configs, c)
	}
	m.Resources = append(m.Resources, r)
	return m
}

func describingRequest(kind kmsg.ConfigResourceType, name string, names ...string,
) *kmsg.DescribeConfigsRequest {
	m := kmsg.NewPtrDescribeConfigsRequest()
	m.Version, m.IncludeSynonyms, m.IncludeDocumentation = 4, true, true
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, names
	m.Resources = append(m.Resources, r)
	return m
}

func TestAddedPartitionsServeWhenTheAnswerComes(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("a", 1)
	answer := h.call(growing("a", 3)).(*kmsg.CreatePartitionsResponse)
	require.Zero(t, answer.Topics[0].ErrorCode)
	require.Zero(t, h.produce(1, "a", 2, "v").ErrorCode)
	answer = h.call(growing("a", 3)).(*kmsg.CreatePartitionsResponse)
	require.Equal(t, kafka.InvalidPartitions, kafka.ErrorCode(answer.Topics[0].ErrorCode))
}

func TestWhatTheControllerDoesNotDecideIsOutOfTime(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("a", 1)
	h.controller.undecided = true
	features, unregister := kmsg.NewPtrUpdateFeaturesRequest(), kmsg.NewPtrUnregisterBrokerRequest()
	features.Version, features.TimeoutMillis = 2, 5000
	replace := kmsg.NewPtrAlterConfigsRequest()
	replaced := kmsg.NewAlterConfigsRequestResource()
	replaced.ResourceType, replaced.ResourceName = kmsg.ConfigResourceTypeTopic, "a"
	replace.Version, replace.Resources = 2, append(replace.Resources, replaced)
	add, remove := kmsg.NewPtrAddRaftVoterRequest(), kmsg.NewPtrRemoveRaftVoterRequest()
	add.TimeoutMillis = 5000
	reassign, list := reassigning()
	for _, m := range []kmsg.Request{
		growing("a", 3), altering(kmsg.ConfigResourceTypeTopic, "a", "segment.ms", "5"), replace,
		features, unregister, describingRequest(kmsg.ConfigResourceTypeTopic, "a"),
		kmsg.NewPtrDescribeQuorumRequest(), add, remove, electing(0), electing(2), reassign, list,
	} {
		h.ask(7, m)
		h.deliver()
		h.tick(4_900)
		require.Empty(t, h.take(), "%T", m)
		h.tick(5_200)
		var code int16
		switch r := h.one().(type) {
		case *kmsg.CreatePartitionsResponse:
			code = r.Topics[0].ErrorCode
		case *kmsg.IncrementalAlterConfigsResponse:
			code = r.Resources[0].ErrorCode
		case *kmsg.AlterConfigsResponse:
			code = r.Resources[0].ErrorCode
		case *kmsg.UpdateFeaturesResponse:
			code = r.ErrorCode
		case *kmsg.UnregisterBrokerResponse:
			code = r.ErrorCode
		case *kmsg.DescribeConfigsResponse:
			code = r.Resources[0].ErrorCode
			require.Empty(t, r.Resources[0].Configs)
		case *kmsg.DescribeQuorumResponse:
			code = r.ErrorCode
		case *kmsg.AddRaftVoterResponse:
			code = r.ErrorCode
		case *kmsg.RemoveRaftVoterResponse:
			code = r.ErrorCode
		case *kmsg.ElectLeadersResponse:
			code = r.Topics[0].Partitions[0].ErrorCode
			require.Equal(t, r.Version > 0, r.ErrorCode == code)
		case *kmsg.AlterPartitionAssignmentsResponse:
			code = r.ErrorCode
			require.True(t, r.AllowReplicationFactorChange)
		case *kmsg.ListPartitionReassignmentsResponse:
			code = r.ErrorCode
		}
		require.Equal(t, kafka.RequestTimedOut, kafka.ErrorCode(code), "%T", m)
	}
}

func TestRequestsAreSentAgainToWhoeverLeads(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("a", 1)
	replace := kmsg.NewPtrAlterConfigsRequest()
	replaced := kmsg.NewAlterConfigsRequestResource()
	replaced.ResourceType, replaced.ResourceName = kmsg.ConfigResourceTypeTopic, "a"
	replace.Version, replace.Resources = 2, append(replace.Resources, replaced)
	reassign, list := reassigning()
	for _, m := range []kmsg.Request{
		electing(0), electing(2), reassign, list,
		growing("a", 3), altering(kmsg.ConfigResourceTypeTopic, "a", "segment.ms", "5"), replace,
		kmsg.NewPtrUpdateFeaturesRequest(), kmsg.NewPtrUnregisterBrokerRequest(),
		describingRequest(kmsg.ConfigResourceTypeTopic, "a"), kmsg.NewPtrDescribeQuorumRequest(),
	} {
		if f, ok := m.(*kmsg.UpdateFeaturesRequest); ok {
			f.TimeoutMillis = 5000
		}
		h.controller.refuses = 3
		h.ask(7, m)
		for range 4 {
			h.deliver()
			require.Equal(t, h.controller.refuses == 0 && len(h.replies) > 0, len(h.replies) > 0, "%T", m)
			h.tick(100)
		}
		require.Zero(t, h.controller.refuses, "%T", m)
		require.Len(t, h.take(), 1, "%T", m)
	}
	require.Equal(t, 3, h.broker.image.Topic("a").PartitionCount())

	// Of a change of the quorum it is not known whether something became of it.
	h.controller.refuses = 2
	require.Equal(t, int16(kafka.NotController),
		h.call(kmsg.NewPtrAddRaftVoterRequest()).(*kmsg.AddRaftVoterResponse).ErrorCode)
	require.Equal(t, int16(kafka.NotController),
		h.call(kmsg.NewPtrRemoveRaftVoterRequest()).(*kmsg.RemoveRaftVoterResponse).ErrorCode)
}

func TestTheControllersAnswerIsRelayedInTheClientsVersion(t *testing.T) {
	h := newHarness(t, nil)
	for version := range int16(3) {
		m := kmsg.NewPtrUpdateFeaturesRequest()
		m.Version = version
		require.Equal(t, int16(kafka.InvalidUpdateVersion),
			h.call(m).(*kmsg.UpdateFeaturesResponse).ErrorCode)
		replace := kmsg.NewPtrAlterConfigsRequest()
		replace.Version = version
		r := kmsg.NewAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, "a"
		replace.Resources = append(replace.Resources, r)
		answer := h.call(replace).(*kmsg.AlterConfigsResponse)
		require.Equal(t, "a", answer.Resources[0].ResourceName)
		require.Equal(t, int16(kafka.InvalidConfig), answer.Resources[0].ErrorCode)
	}
	for version := range int16(3) {
		m := kmsg.NewPtrDescribeQuorumRequest()
		m.Version = version
		require.Equal(t, int16(kafka.UnknownTopicOrPartition),
			h.call(m).(*kmsg.DescribeQuorumResponse).ErrorCode)
	}
	require.Equal(t, int16(kafka.DuplicateVoter),
		h.call(kmsg.NewPtrAddRaftVoterRequest()).(*kmsg.AddRaftVoterResponse).ErrorCode)
	require.Equal(t, int16(kafka.VoterNotFound),
		h.call(kmsg.NewPtrRemoveRaftVoterRequest()).(*kmsg.RemoveRaftVoterResponse).ErrorCode)
	require.Equal(t, int16(kafka.BrokerIDNotRegistered),
		h.call(kmsg.NewPtrUnregisterBrokerRequest()).(*kmsg.UnregisterBrokerResponse).ErrorCode)
}

func TestAlteredSettingsAreInForceAndDescribed(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("a", 1)
	h.createTopic("b", 1, "max.message.bytes", "1000")
	big := string(make([]byte, 500))
	require.Zero(t, h.produce(1, "a", 0, big).ErrorCode)
	for _, m := range []*kmsg.IncrementalAlterConfigsRequest{
		altering(kmsg.ConfigResourceTypeBroker, "1", "message.max.bytes", "400"),
		altering(kmsg.ConfigResourceTypeBroker, "", "message.max.bytes", "5000",
			"num.recovery.threads.per.data.dir", "7", "producer.id.expiration.ms", "9000"),
	} {
		require.Zero(t, h.call(m).(*kmsg.IncrementalAlterConfigsResponse).Resources[0].ErrorCode)
	}
	require.Equal(t, int16(kafka.MessageTooLarge), h.produce(1, "a", 0, big).ErrorCode)
	require.Zero(t, h.produce(1, "b", 0, big).ErrorCode, "the topic's own setting stands above")
	require.Equal(t, 7, h.broker.config.RecoveryJobs)
	require.Equal(t, 9*time.Second, h.broker.config.ProducerExpiration)

	describe := func(kind kmsg.ConfigResourceType, name, config string) kmsg.DescribeConfigsResponseResourceConfig {
		answer := h.call(describingRequest(kind, name, config)).(*kmsg.DescribeConfigsResponse)
		require.Zero(t, answer.Resources[0].ErrorCode)
		require.Len(t, answer.Resources[0].Configs, 1)
		c := answer.Resources[0].Configs[0]
		require.Nil(t, c.Documentation)
		require.False(t, c.IsSensitive)
		require.Equal(t, config, c.Name)
		require.Equal(t, kmsg.ConfigTypeInt, c.ConfigType)
		return c
	}
	a := describe(kmsg.ConfigResourceTypeTopic, "a", "max.message.bytes")
	require.Equal(t, "400", *a.Value)
	require.Equal(t, kmsg.ConfigSourceDynamicBrokerConfig, a.Source)
	require.Len(t, a.ConfigSynonyms, 3)
	require.Equal(t, "message.max.bytes", a.ConfigSynonyms[0].Name)
	b := describe(kmsg.ConfigResourceTypeTopic, "b", "max.message.bytes")
	require.Equal(t, "1000", *b.Value)
	require.Equal(t, kmsg.ConfigSourceDynamicTopicConfig, b.Source)
	require.Len(t, b.ConfigSynonyms, 4)
	broker := describe(kmsg.ConfigResourceTypeBroker, "1", "message.max.bytes")
	require.Equal(t, "400", *broker.Value)
	require.False(t, broker.ReadOnly)
	require.True(t, describe(kmsg.ConfigResourceTypeBroker, "1", "num.partitions").ReadOnly)
	defaults := describe(kmsg.ConfigResourceTypeBroker, "", "message.max.bytes")
	require.Equal(t, "5000", *defaults.Value)
	require.Equal(t, kmsg.ConfigSourceDynamicDefaultBrokerConfig, defaults.Source)

	all := describingRequest(kmsg.ConfigResourceTypeTopic, "a")
	for _, names := range [][]string{nil, {}} {
		all.Resources[0].ConfigNames = names
		answer := h.call(all).(*kmsg.DescribeConfigsResponse)
		require.Len(t, answer.Resources[0].Configs, len(kafka.TopicSettings()))
	}

	h.stop()
	h.start()
	require.Equal(t, int16(kafka.MessageTooLarge), h.produce(1, "a", 0, big).ErrorCode)
	require.EqualValues(t, 1_048_588, h.broker.static.Topic.MaxMessageBytes)
}

func TestAChangedConfigurationKeepsWhatIsSetForBrokers(t *testing.T) {
	h := newHarness(t, nil)
	h.call(altering(kmsg.ConfigResourceTypeBroker, "", "message.max.bytes", "400"))
	changed := h.config
	changed.Topic.MaxMessageBytes, changed.Topic.SegmentMs = 300, 77
	h.turn(env.Event{Kind: env.EventConfig, Res: &changed})
	require.EqualValues(t, 400, h.broker.config.Topic.MaxMessageBytes)
	require.EqualValues(t, 77, h.broker.config.Topic.SegmentMs)
}

func TestWhatHasNoSettingsIsRefused(t *testing.T) {
	h := newHarness(t, nil)
	for _, c := range []struct {
		kind kmsg.ConfigResourceType
		name string
		code kafka.ErrorCode
	}{
		{kmsg.ConfigResourceTypeTopic, "", kafka.InvalidRequest},
		{kmsg.ConfigResourceTypeTopic, "x", kafka.UnknownTopicOrPartition},
		{kmsg.ConfigResourceTypeBroker, "2", kafka.InvalidRequest},
		{kmsg.ConfigResourceTypeBroker, "x", kafka.InvalidRequest},
		{kmsg.ConfigResourceTypeBrokerLogger, "1", kafka.InvalidRequest},
		{kmsg.ConfigResourceTypeGroupConfig, "g", kafka.InvalidRequest},
	} {
		answer := h.call(describingRequest(c.kind, c.name)).(*kmsg.DescribeConfigsResponse)
		require.Equal(t, c.code, kafka.ErrorCode(answer.Resources[0].ErrorCode))
		require.NotEmpty(t, *answer.Resources[0].ErrorMessage)
	}
}

// The image is behind what another broker's client was told; the description waits for it.
func TestDescriptionsSeeWhatWasAlteredBefore(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("a", 1)
	waiting := h.controller.waiting
	h.controller.waiting = nil // the log does not arrive
	topic := metadata.Resource{Type: metadata.ResourceTopic, Name: "a"}
	h.controller.commit(&metadata.ConfigRecord{Resource: topic, Name: "segment.ms", Value: "5"})
	h.controller.refuses = 2 // while a new controller is elected
	h.ask(7, describingRequest(kmsg.ConfigResourceTypeTopic, "a", "segment.ms"))
	for range 3 {
		h.deliver()
		require.Empty(t, h.take())
		h.tick(100)
	}
	h.deliver()
	require.Zero(t, h.controller.refuses)
	require.Empty(t, h.take(), "the image is older than the request")
	h.controller.waiting = waiting
	h.controller.publish(h)
	h.deliver()
	answer := h.one().(*kmsg.DescribeConfigsResponse)
	require.Equal(t, "5", *answer.Resources[0].Configs[0].Value)
}

func TestRequestsWaitForALink(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("a", 1)
	h.turn(env.Event{Kind: env.EventConnClosed, Conn: h.link, Err: env.EReset})
	h.ask(7, growing("a", 3))
	h.ask(8, describingRequest(kmsg.ConfigResourceTypeTopic, "a", "segment.ms"))
	h.deliver()
	require.Empty(t, h.take())
	h.controller.waiting = nil
	for range 3 { // it dials again, and follows the log, after a pause
		h.tick(100)
		h.deliver()
	}
	require.Len(t, h.take(), 2)
	require.Equal(t, 3, h.broker.image.Topic("a").PartitionCount())
}

// join registers brokers 2 (in rack r, without the listener PLAINTEXT) and 3, which is fenced.
func (h *harness) joinOthers() {
	h.controller.commit(
		&metadata.BrokerRecord{Broker: metadata.Broker{
			ID: 2, Epoch: -1, Rack: "r",
			Endpoints: []metadata.Endpoint{{Name: "INTERNAL", Host: "b2", Port: 9093}},
		}},
		&metadata.BrokerRecord{Broker: metadata.Broker{
			ID: 3, Epoch: -1, Rack: "r", Fenced: true,
			Endpoints: []metadata.Endpoint{{Name: "PLAINTEXT", Host: "b3", Port: 9092}},
		}},
	)
	h.controller.publish(h)
	h.deliver()
}

func TestClustersAreDescribedByListener(t *testing.T) {
	h := newHarness(t, nil)
	h.joinOthers()
	ask := func(version int16, kind int8, fenced bool) *kmsg.DescribeClusterResponse {
		m := kmsg.NewPtrDescribeClusterRequest()
		m.Version, m.EndpointType, m.IncludeFencedBrokers = version, kind, fenced
		return h.call(m).(*kmsg.DescribeClusterResponse)
	}
	for version := range int16(3) {
		answer := ask(version, 1, false)
		require.Zero(t, answer.ErrorCode)
		require.Equal(t, "AAAAAAAAAAAAAAAAAAAAAA", answer.ClusterID)
		require.EqualValues(t, 1, answer.ControllerID)
		require.EqualValues(t, math.MinInt32, answer.ClusterAuthorizedOperations)
		require.Len(t, answer.Brokers, 1, "broker 2 has no such listener, broker 3 is fenced")
		require.Equal(t, "b1", answer.Brokers[0].Host)
	}
	all := ask(2, 1, true)
	require.Len(t, all.Brokers, 2)
	require.True(t, all.Brokers[1].IsFenced)
	require.Equal(t, "r", *all.Brokers[1].Rack)
	require.Equal(t, int16(kafka.MismatchedEndpointType), ask(1, 2, false).ErrorCode)
	require.Equal(t, int16(kafka.UnsupportedEndpointType), ask(2, 3, false).ErrorCode)
}

func TestALeaderWithoutTheListenerIsNotTold(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("a", 1)
	h.joinOthers()
	topic := h.controller.image.Topic("a")
	p := *topic.Partition(0)
	p.Replicas, p.ISR, p.Leader = []kafka.BrokerID{1, 2}, []kafka.BrokerID{1, 2}, 2
	p.LeaderEpoch, p.Epoch = p.LeaderEpoch+1, p.Epoch+1
	h.controller.commit(&metadata.PartitionRecord{TopicID: topic.ID, Partition: p})
	h.controller.publish(h)
	h.deliver()
	for version, code := range map[int16]kafka.ErrorCode{
		5: kafka.LeaderNotAvailable, 6: kafka.ListenerNotFound, 13: kafka.ListenerNotFound,
	} {
		m := kmsg.NewPtrMetadataRequest()
		m.Version = version
		answer := h.call(m).(*kmsg.MetadataResponse)
		require.Len(t, answer.Brokers, 1)
		require.Equal(t, code, kafka.ErrorCode(answer.Topics[0].Partitions[0].ErrorCode))
		require.EqualValues(t, -1, answer.Topics[0].Partitions[0].Leader)
	}
}

func TestResourcesWithSettingsAreListed(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("a", 1)
	ask := func(version int16, types ...int8) *kmsg.ListConfigResourcesResponse {
		m := kmsg.NewPtrListConfigResourcesRequest()
		m.Version, m.ResourceTypes = version, types
		return h.call(m).(*kmsg.ListConfigResourcesResponse)
	}
	require.Empty(t, ask(0).ConfigResources)
	all := ask(1).ConfigResources
	require.Len(t, all, 2)
	require.Equal(t, "a", all[0].Name)
	require.EqualValues(t, 2, all[0].Type)
	require.Equal(t, "1", all[1].Name)
	require.EqualValues(t, 4, all[1].Type)
	require.Len(t, ask(1, 2, 2).ConfigResources, 1)
	require.Empty(t, ask(1, 8, 16, 32).ConfigResources)
	unknown := ask(1, 2, 77)
	require.Equal(t, int16(kafka.UnsupportedVersion), unknown.ErrorCode)
	require.Empty(t, unknown.ConfigResources)
}

func TestTopicsAreDescribedInPages(t *testing.T) {
	h := newHarness(t, nil)
	for name, count := range map[string]int32{"a": 3, "b": 2, "c": 1} {
		h.createTopic(name, count)
	}
	for limit := int32(1); limit <= 7; limit++ {
		var got []string
		m := kmsg.NewPtrDescribeTopicPartitionsRequest()
		m.ResponsePartitionLimit = limit
		for {
			answer := h.call(m).(*kmsg.DescribeTopicPartitionsResponse)
			inPage := int32(0)
			for _, topic := range answer.Topics {
				for _, p := range topic.Partitions {
					inPage++
					require.NotNil(t, p.EligibleLeaderReplicas)
					require.NotNil(t, p.LastKnownELR)
					require.EqualValues(t, 1, p.LeaderID)
					got = append(got, fmt.Sprint(*topic.Topic, p.Partition))
				}
			}
			require.LessOrEqual(t, inPage, limit)
			if answer.NextCursor == nil {
				break
			}
			require.Equal(t, limit, inPage)
			m.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{
				Topic: answer.NextCursor.Topic, Partition: answer.NextCursor.Partition,
			}
		}
		require.Equal(t, []string{"a0", "a1", "a2", "b0", "b1", "c0"}, got, limit)
	}
	m := kmsg.NewPtrDescribeTopicPartitionsRequest()
	for _, name := range []string{"x", "b", "!", "b"} {
		m.Topics = append(m.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
	}
	m.ResponsePartitionLimit = 100
	answer := h.call(m).(*kmsg.DescribeTopicPartitionsResponse)
	var got []string
	for _, topic := range answer.Topics {
		got = append(got, fmt.Sprint(*topic.Topic, " ", kafka.ErrorCode(topic.ErrorCode)))
	}
	require.Equal(t, []string{"! INVALID_TOPIC_EXCEPTION", "b NONE", "x UNKNOWN_TOPIC_OR_PARTITION"}, got)
	m.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: "b", Partition: -1}
	answer = h.call(m).(*kmsg.DescribeTopicPartitionsResponse)
	require.Len(t, answer.Topics, 4)
	require.Equal(t, int16(kafka.InvalidRequest), answer.Topics[0].ErrorCode)
}

func TestVersionsTellFeatures(t *testing.T) {
	h := newHarness(t, nil)
	m := kmsg.NewPtrApiVersionsRequest()
	m.Version, m.ClientSoftwareName, m.ClientSoftwareVersion = 4, "test", "1"
	answer := h.call(m).(*kmsg.ApiVersionsResponse)
	require.Len(t, answer.SupportedFeatures, len(metadata.BuildLevels().Advertised()))
	require.EqualValues(t, h.broker.image.Index(), answer.FinalizedFeaturesEpoch)
	require.Len(t, answer.FinalizedFeatures, len(metadata.BuildLevels().Advertised()))
	require.Equal(t, "metadata.version", answer.FinalizedFeatures[0].Name)
	require.EqualValues(t, 33, answer.FinalizedFeatures[0].MaxVersionLevel)
}

func TestABrokerDoesNotActOnItsOwnWordWhereAllMustAgree(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.Topic.MinInsyncReplicas, c.Topic.SegmentMs = 3, 5 })
	require.Zero(t, h.broker.config.Topic.MinInsyncReplicas)
	require.EqualValues(t, 5, h.broker.config.Topic.SegmentMs)
}
