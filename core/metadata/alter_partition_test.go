package metadata

import (
	"testing"

	"stet/core/kafka"

	"github.com/stretchr/testify/require"
)

// isrOf makes members in the present lives of their brokers.
func isrOf(image *Image, list ...kafka.BrokerID) (members []ISRMember) {
	for _, id := range list {
		m := ISRMember{Broker: id, Epoch: -1}
		if b := image.Broker(id); b != nil {
			m.Epoch = b.Epoch
		}
		members = append(members, m)
	}
	return members
}

// changeOf asks for an ISR of a partition of topic "t" as it is in the image.
func changeOf(image *Image, id kafka.PartitionID, isr ...kafka.BrokerID) ISRChange {
	c := ISRChange{TopicID: image.Topic("t").ID, ID: id, ISR: isrOf(image, isr...)}
	if p := image.Topic("t").Partition(id); p != nil {
		c.LeaderEpoch, c.PartitionEpoch, c.Recovering = p.LeaderEpoch, p.Epoch, p.Recovering
	}
	return c
}

func askISR(image *Image, leader kafka.BrokerID, changes ...ISRChange) ([]Record, []AlteredPartition, kafka.ErrorCode) {
	return AlterPartition(image, leader, image.Broker(leader).Epoch, changes)
}

// altered applies one change that is accepted.
func altered(t *testing.T, image *Image, leader kafka.BrokerID, c ISRChange) *Image {
	records, outcomes, code := askISR(image, leader, c)
	require.Equal(t, kafka.None, code)
	require.Equal(t, kafka.None, outcomes[0].Error)
	after := decide(t, image, records)
	require.Equal(t, after.TopicByID(c.TopicID).Partition(c.ID), outcomes[0].State)
	return after
}

func TestISRShrinksIntoTheELRAndGrowsOutOfIt(t *testing.T) {
	image := threeReplicas(t) // two have to be in sync
	for _, step := range []struct {
		asked, isr, elr []kafka.BrokerID
	}{
		{ids(2, 1), ids(1, 2), nil},       // enough are left: who lags is not eligible
		{ids(1), ids(1), ids(2)},          // nothing is committed without broker 2 from now on
		{ids(1, 3), ids(1, 3), nil},       // and is again
		{ids(1), ids(1), ids(3)},          // broker 2 is not eligible any more
		{ids(3, 2, 1), ids(1, 2, 3), nil}, // all have caught up
		{ids(1), ids(1), ids(2, 3)},
	} {
		before := image.Topic("t").Partition(0)
		image = altered(t, image, 1, changeOf(image, 0, step.asked...))
		p := image.Topic("t").Partition(0)
		require.Equal(t, Standing{step.isr, step.elr, 1, kafka.NoBroker, false}, p.Standing)
		require.Equal(t, before.LeaderEpoch, p.LeaderEpoch, "the leader goes on")
		require.Equal(t, before.Epoch+1, p.Epoch)
	}
}

func TestLeaderRecoversBeforeOthersJoin(t *testing.T) {
	image := decide(t, threeReplicas(t), []Record{&PartitionChangesRecord{idNumber(1), []PartitionUpdate{
		{0, true, Standing{ids(1), nil, 1, kafka.NoBroker, true}},
	}}})
	asked := changeOf(image, 0, 1, 2)
	_, outcomes, _ := askISR(image, 1, asked)
	require.Equal(t, kafka.InvalidRequest, outcomes[0].Error, "an ISR of two while the leader recovers")
	records, outcomes, _ := askISR(image, 1, changeOf(image, 0, 1))
	require.Empty(t, records)
	require.Equal(t, image.Topic("t").Partition(0), outcomes[0].State, "nothing is to be changed")

	asked = changeOf(image, 0, 1)
	asked.Recovering = false
	image = altered(t, image, 1, asked)
	require.Equal(t, Standing{ids(1), nil, 1, kafka.NoBroker, false}, image.Topic("t").Partition(0).Standing)
	asked = changeOf(image, 0, 1)
	asked.Recovering = true
	_, outcomes, _ = askISR(image, 1, asked)
	require.Equal(t, kafka.InvalidRequest, outcomes[0].Error, "it recovers once")
	image = altered(t, image, 1, changeOf(image, 0, 1, 2))
	require.Equal(t, ids(1, 2), image.Topic("t").Partition(0).ISR)
}

func TestISRChangeIsRefused(t *testing.T) {
	image := threeReplicas(t)
	image = altered(t, image, 1, changeOf(image, 0, 1, 2, 3)) // no change
	image = altered(t, image, 1, changeOf(image, 0, 1, 2))
	image = begin(t, fence(t, image, 3), 3, func(*Registration) {})
	fenced := image
	image = unfenced(t, image, 3)
	image = elected(t, image, 0, 1, 2)
	good := func() ISRChange { return changeOf(image, 0, 1, 2, 3) }
	for name, c := range map[string]struct {
		image  *Image
		change func(*ISRChange)
		code   kafka.ErrorCode
	}{
		"nothing":               {image, func(*ISRChange) {}, kafka.None},
		"an unknown topic":      {image, func(c *ISRChange) { c.TopicID = idNumber(9) }, kafka.UnknownTopicID},
		"an unknown partition":  {image, func(c *ISRChange) { c.ID = 130 }, kafka.UnknownTopicOrPartition},
		"a negative partition":  {image, func(c *ISRChange) { c.ID = -1 }, kafka.UnknownTopicOrPartition},
		"a future leader epoch": {image, func(c *ISRChange) { c.LeaderEpoch++ }, kafka.NotController},
		"a future epoch":        {image, func(c *ISRChange) { c.PartitionEpoch++ }, kafka.NotController},
		"a past leader epoch":   {image, func(c *ISRChange) { c.LeaderEpoch-- }, kafka.FencedLeaderEpoch},
		"a past epoch":          {image, func(c *ISRChange) { c.PartitionEpoch-- }, kafka.InvalidUpdateVersion},
		"a partition of another": {image, func(c *ISRChange) {
			*c = changeOf(image, 1, 1, 2)
		}, kafka.InvalidRequest},
		"an ISR without it, but with more": {image, func(c *ISRChange) { c.ISR = c.ISR[1:] }, kafka.InvalidRequest},
		"a broker twice":                   {image, func(c *ISRChange) { c.ISR[2] = c.ISR[1] }, kafka.InvalidRequest},
		"a broker without one":             {image, func(c *ISRChange) { c.ISR[2] = ISRMember{4, -1} }, kafka.InvalidRequest},
		"a fenced broker": {fenced, func(c *ISRChange) {
			*c = changeOf(fenced, 0, 1, 2, 3)
		}, kafka.IneligibleReplica},
		"a former life":     {image, func(c *ISRChange) { c.ISR[2].Epoch-- }, kafka.IneligibleReplica},
		"a life to come":    {image, func(c *ISRChange) { c.ISR[2].Epoch++ }, kafka.IneligibleReplica},
		"no life, as of v2": {image, func(c *ISRChange) { c.ISR[2].Epoch = -1 }, kafka.None},
	} {
		asked := good()
		c.change(&asked)
		records, outcomes, code := askISR(c.image, 1, asked)
		require.Equal(t, kafka.None, code, name)
		require.Equal(t, c.code, outcomes[0].Error, name)
		require.Equal(t, c.code == kafka.None, len(records) == 1, name)
		require.Equal(t, c.code == kafka.None, outcomes[0].State != nil, name)
	}
}

// A leader that is not in the ISR that it asks for has another elected, and itself only if nobody else
// may lead: then records are lost.
func TestLeaderResigns(t *testing.T) {
	image := threeReplicas(t)
	for _, step := range []struct {
		isr, after []kafka.BrokerID // without the leader
		leader     kafka.BrokerID
		recovering bool
	}{
		{ids(2, 3), ids(2, 3), 2, false},
		{ids(), ids(3), 3, false}, // whoever else is in sync
		{ids(), ids(3), 3, true},
	} {
		before := image.Topic("t").Partition(0)
		records, outcomes, code := askISR(image, before.Leader, changeOf(image, 0, step.isr...))
		require.Equal(t, kafka.None, code)
		require.Equal(t, kafka.NewLeaderElected, outcomes[0].Error)
		image = decide(t, image, records)
		p := image.Topic("t").Partition(0)
		require.Equal(t, step.leader, p.Leader)
		require.Equal(t, step.after, p.ISR)
		require.Empty(t, p.ELR)
		require.Equal(t, step.recovering, p.Recovering)
		require.Equal(t, before.LeaderEpoch+1, p.LeaderEpoch)
	}
}

// elected has a partition of "t" pass through elections of other brokers, so that its epochs are not zero.
func elected(t *testing.T, image *Image, id kafka.PartitionID, leaders ...kafka.BrokerID) *Image {
	p := image.Topic("t").Partition(id)
	for _, leader := range append(leaders, p.Leader) {
		s := p.Standing
		s.Leader = leader
		image = decide(t, image, []Record{
			&PartitionChangesRecord{image.Topic("t").ID, []PartitionUpdate{{id, true, s}}},
		})
	}
	return image
}

func TestStoppingBrokerDoesNotJoinAndARequestOfAFormerLifeIsRefused(t *testing.T) {
	image := threeReplicas(t)
	image = altered(t, image, 1, changeOf(image, 0, 1, 2))
	beat := Beat{Broker: 3, Epoch: image.Broker(3).Epoch, Index: image.Index(), WantShutdown: true}
	records, _, _ := Heartbeat(image, &beat, func(kafka.BrokerID) Index { return 0 })
	stopping := decide(t, image, records)
	_, outcomes, _ := askISR(stopping, 1, changeOf(stopping, 0, 1, 2, 3))
	require.Equal(t, kafka.IneligibleReplica, outcomes[0].Error)

	epoch := image.Broker(1).Epoch
	again := begin(t, image, 1, func(*Registration) {})
	records, outcomes, code := AlterPartition(again, 1, epoch, []ISRChange{changeOf(image, 0, 1)})
	require.Equal(t, kafka.StaleBrokerEpoch, code)
	require.Empty(t, records)
	require.Empty(t, outcomes)
	_, outcomes, _ = askISR(again, 1, changeOf(image, 0, 1))
	require.Equal(t, kafka.FencedLeaderEpoch, outcomes[0].Error, "it leads no more")
}

func TestChangesOfManyPartitionsAreOneEntryInTheOrderOfTheLog(t *testing.T) {
	image := threeReplicas(t)
	image, _ = create(t, image, with(func(n *NewTopic) { n.Name = "a"; assigned(ids(1, 2, 3))(n) }))
	other := ISRChange{TopicID: image.Topic("a").ID, ISR: isrOf(image, 1)}
	asked := []ISRChange{
		changeOf(image, 6, 1, 2), changeOf(image, 3, 1),
		{TopicID: idNumber(8)},
		other,
		changeOf(image, 3, 1, 2, 3), changeOf(image, 9, 1, 2, 3), changeOf(image, 1, 2),
	}
	records, outcomes, code := askISR(image, 1, asked...)
	require.Equal(t, kafka.None, code)
	require.Len(t, records, 2)
	after := decide(t, image, records)
	var codes []kafka.ErrorCode
	for i, o := range outcomes {
		require.Equal(t, asked[i].TopicID, o.TopicID)
		require.Equal(t, asked[i].ID, o.ID)
		codes = append(codes, o.Error)
	}
	require.Equal(t, []kafka.ErrorCode{
		kafka.None, kafka.None, kafka.UnknownTopicID, kafka.None,
		kafka.InvalidRequest, kafka.None, kafka.InvalidRequest,
	}, codes)
	require.Equal(t, ids(1), after.Topic("a").Partition(0).ISR)
	require.Equal(t, ids(1), after.Topic("t").Partition(3).ISR)
	require.Equal(t, ids(1, 2), after.Topic("t").Partition(6).ISR)
	require.Same(t, image.Topic("t").Partition(9), after.Topic("t").Partition(9))
}
