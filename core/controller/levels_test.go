package controller

import (
	"testing"
	"time"

	"stet/core/kafka"
	"stet/core/metadata"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// first is the range of software that knows the first level alone.
var first = metadata.Levels{Min: metadata.LevelFirst, Max: metadata.LevelFirst}

// raise asks for the newest level.
func (s *cluster) raise() (kafka.ErrorCode, string) {
	m := kmsg.NewPtrUpdateFeaturesRequest()
	m.Version, m.TimeoutMillis = 2, 5000
	u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	u.Feature, u.MaxVersionLevel, u.UpgradeType = metadata.FeatureName, metadata.CurrentLevel, 1
	m.FeatureUpdates = append(m.FeatureUpdates, u)
	answer := s.leader().call(m).(*kmsg.UpdateFeaturesResponse)
	if answer.ErrorMessage == nil {
		return kafka.ErrorCode(answer.ErrorCode), ""
	}
	return kafka.ErrorCode(answer.ErrorCode), *answer.ErrorMessage
}

// upgrade starts a machine again with the software of this build.
func (m *machine) upgrade() {
	m.crash(false)
	m.config.Levels = metadata.BuildLevels()
	m.start()
	m.cluster.run(2 * time.Second)
}

func TestTheLevelRisesWhenTheLastControllerIsUpgraded(t *testing.T) {
	s := newCluster(t, 5, 3)
	s.machines[0].config.Levels, s.machines[1].config.Levels = first, first
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	s.run(time.Second)
	require.Equal(t, metadata.LevelFirst, s.leader().c.Image().Features().Level, "what all founders support")
	for _, m := range s.machines[:2] {
		code, why := s.raise()
		require.Equal(t, kafka.InvalidUpdateVersion, code)
		require.Contains(t, why, "controller")
		m.upgrade()
		require.True(t, s.until(10*time.Second, func() bool { return s.leader() != nil }))
	}
	require.True(t, s.until(20*time.Second, func() bool {
		code, _ := s.raise()
		return code == kafka.None
	}))
	require.Equal(t, metadata.CurrentLevel, s.leader().c.Image().Features().Level)
}

func TestAnOldControllerJoinsWhenItIsUpgraded(t *testing.T) {
	s := newCluster(t, 6, 3)
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	require.Equal(t, metadata.CurrentLevel, s.leader().c.Image().Features().Level)
	fourth := s.add(4, 3)
	fourth.config.Levels = first
	fourth.start()
	s.run(3 * time.Second)
	voters, _ := s.voters()
	require.ElementsMatch(t, []int32{1, 2, 3}, voters)
	require.Positive(t, fourth.lines("feature level 2 is in force, and controller 4 supports 1 to 1"))
	require.Zero(t, fourth.c.Image().Index(), "it was given nothing that it can not read")

	s.leader().call(additionRequest(fourth)) // an administrator does not make it a voter either
	s.run(3 * time.Second)
	voters, _ = s.voters()
	require.ElementsMatch(t, []int32{1, 2, 3}, voters)
	require.Zero(t, fourth.c.Image().Index())

	fourth.upgrade()
	require.True(t, s.until(10*time.Second, func() bool {
		voters, _ := s.voters()
		return len(voters) == 4
	}))
}

func TestAnOldControllerThatWasMetBeforeTheLevelRoseIsNotAdded(t *testing.T) {
	s := newCluster(t, 7, 3)
	for _, m := range s.machines {
		m.config.AutoJoin = false
	}
	s.startAll()
	require.True(t, s.until(10*time.Second, s.formed))
	s.run(time.Second)
	leader := s.leader()
	other := s.machines[leader.node%3]
	answer := leader.call(removalRequest(other.node, other.c.directory)).(*kmsg.RemoveRaftVoterResponse)
	require.Zero(t, answer.ErrorCode)
	s.run(time.Second)
	p := leader.c.peers.ofVoter(other.voter)
	require.NotNil(t, p, "it is of the list")
	p.hello.MaxLevel = metadata.LevelFirst
	added := leader.call(additionRequest(other)).(*kmsg.AddRaftVoterResponse)
	require.Equal(t, kafka.UnsupportedVersion, kafka.ErrorCode(added.ErrorCode))
	require.Contains(t, *added.ErrorMessage, "supports 1 to 1: upgrade its software")
	voters, observers := s.voters()
	require.Len(t, voters, 2)
	require.Empty(t, observers)
}
