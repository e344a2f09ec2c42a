package controller

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// broker is a stand-in for a broker: it registers, beats, and follows the metadata log.
type broker struct {
	cluster     *cluster
	id          int32
	incarnation byte
	directory   byte // of its data
	epoch       int64
	fenced      bool
	index       int64 // of the last entry that it has seen
	down        bool
	stopping    bool  // wants to shut down
	refusal     int16 // of its last registration
}

// live has a broker beat until the cluster's end.
func (s *cluster) live(id int32) *broker {
	b := &broker{cluster: s, id: id, incarnation: 1, directory: byte(id), fenced: true}
	b.beat()
	b.fetch()
	return b
}

func (b *broker) beat() {
	s := b.cluster
	s.after(300*time.Millisecond, b.beat)
	leader := s.leader()
	if b.down || leader == nil {
		return
	}
	if b.epoch == 0 {
		m := registrationRequest(b.incarnation)
		m.BrokerID, m.LogDirs = b.id, [][16]byte{{b.directory}}
		leader.ask(m, func(res kmsg.Response) {
			if a, ok := res.(*kmsg.BrokerRegistrationResponse); ok {
				b.refusal = a.ErrorCode
				b.epoch = max(0, a.BrokerEpoch)
			}
		})
		return
	}
	m := beatRequest(b.epoch)
	m.BrokerID, m.CurrentMetadataOffset, m.WantShutdown = b.id, b.index, b.stopping
	leader.ask(m, func(res kmsg.Response) {
		if a, ok := res.(*kmsg.BrokerHeartbeatResponse); ok && a.ErrorCode == 0 {
			b.fenced, b.down = a.IsFenced, a.ShouldShutdown
		}
	})
}

// fetch follows the log at whatever controller answers.
func (b *broker) fetch() {
	s := b.cluster
	m := &wire.MetadataFetchRequest{BrokerID: b.id, FromIndex: b.index + 1, MaxBytes: 1 << 16, MaxWaitMs: 200}
	to := s.machines[s.random.IntN(len(s.machines))]
	if leader := s.leader(); leader != nil && s.random.IntN(4) > 0 {
		to = leader
	}
	if b.down || to.c == nil {
		s.after(100*time.Millisecond, b.fetch)
		return
	}
	to.ask(m, func(res kmsg.Response) {
		if a, ok := res.(*wire.MetadataFetchResponse); ok {
			b.index = max(b.index, s.history.fetched(b.index, a))
		}
		s.after(50*time.Millisecond, b.fetch)
	})
}

// client creates topics and looks whether they are there, at any controller.
func (s *cluster) client(names int) {
	to := s.machines[s.random.IntN(len(s.machines))]
	if leader := s.leader(); leader != nil && s.random.IntN(3) > 0 {
		to = leader
	}
	if to.c == nil {
		return
	}
	name := topicNumber(s.random.IntN(names))
	m := creationRequest(2, name)
	m.ValidateOnly = s.random.IntN(2) == 0
	asked := s.now
	to.ask(m, func(res kmsg.Response) {
		if a, ok := res.(*kmsg.CreateTopicsResponse); ok {
			s.history.created(name, m.ValidateOnly, asked, s.now, a)
		}
	})
}

// Under crashes, power failures and cut links nothing that was acknowledged is lost or done twice, no
// answer is of the past, all controllers have the same history (history), and in the end all of them
// have all of it.
func TestAcknowledgedMetadataStandsWhateverHappens(t *testing.T) {
	acknowledged := 0
	for seed := range uint64(seeds(40)) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			s := newCluster(t, 1000+seed, []int{3, 3, 5}[seed%3])
			s.lags = true
			s.startAll()
			require.True(t, s.until(20*time.Second, s.formed))
			b := s.live(101)
			require.True(t, s.until(20*time.Second, func() bool { return !b.fenced }))
			for range 120 {
				s.delayed(80 * time.Millisecond)
				if s.random.IntN(3) == 0 {
					s.disturb(false)
				}
				s.client(25)
				s.client(25)
			}
			s.heal()
			s.startAll()
			require.True(t, s.until(30*time.Second, s.formed), "%s", s.describe())
			require.True(t, s.until(30*time.Second, s.level), "%s", s.describe())
			s.history.converged(s)
			acknowledged += s.history.acknowledged()
		})
	}
	require.Greater(t, acknowledged, 5*seeds(40))
}

// level says whether all controllers have applied the same, and all of it.
func (s *cluster) level() bool {
	leader := s.leader()
	if leader == nil || leader.c.life.quorum.Proposed() != uint64(leader.c.Image().Index()) {
		return false
	}
	for _, m := range s.machines {
		if m.c == nil || m.c.Image().Index() != leader.c.Image().Index() {
			return false
		}
	}
	return true
}

// A leader that is cut off must not answer from what it remembers: another one may have been elected
// and may have answered something else. It refuses as soon as it finds out.
func TestLeaderThatIsCutOffAnswersNothing(t *testing.T) {
	for seed := range uint64(seeds(20)) {
		s := newCluster(t, 2000+seed, 3)
		s.startAll()
		require.True(t, s.until(20*time.Second, s.formed))
		b := s.live(101)
		require.True(t, s.until(20*time.Second, func() bool { return !b.fenced }))
		s.run(2 * time.Second)
		old := s.leader()
		s.isolate([]int{old.node}, false)
		require.True(t, old.c.Ready())
		codes := map[bool]kafka.ErrorCode{}
		for _, validate := range []bool{true, false} {
			m := creationRequest(1, "late")
			m.ValidateOnly = validate
			old.ask(m, func(res kmsg.Response) {
				codes[validate] = kafka.ErrorCode(res.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode)
			})
		}
		require.True(t, s.until(20*time.Second, func() bool {
			leader := s.leader()
			return leader != nil && leader != old && len(codes) == 2
		}))
		require.Equal(t, kafka.NotController, codes[true], "nothing has become of it")
		require.Equal(t, kafka.RequestTimedOut, codes[false], "it may become of it what it asked for")
		require.False(t, old.c.Ready())
		s.heal()
		require.True(t, s.until(20*time.Second, s.level))
	}
}

// A leader that was stopped for a while goes on as if it led. What reached it meanwhile must not be
// answered from what it remembers (etcd #20418).
func TestLeaderThatWasPausedAnswersNothingOfThePast(t *testing.T) {
	for seed := range uint64(seeds(20)) {
		s := newCluster(t, 3000+seed, 3)
		s.startAll()
		require.True(t, s.until(20*time.Second, s.formed))
		b := s.live(101)
		require.True(t, s.until(20*time.Second, func() bool { return !b.fenced }))
		s.run(2 * time.Second)
		old := s.leader()
		m := creationRequest(1, "new")
		m.ValidateOnly = true
		before := int16(-1)
		old.ask(m, func(res kmsg.Response) {
			before = res.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode
		})
		require.True(t, s.until(time.Second, func() bool { return before == 0 }), "it has proven once that it leads")
		old.pause(5 * time.Second)
		successor := func() *machine {
			for _, m := range s.machines {
				if m != old && m.c.Ready() {
					return m
				}
			}
			return nil
		}
		require.True(t, s.until(4*time.Second, func() bool { return successor() != nil }))
		var created, seen int16 = -1, -1
		successor().ask(creationRequest(1, "new"), func(res kmsg.Response) {
			created = res.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode
		})
		require.True(t, s.until(time.Second, func() bool { return created == 0 }))
		m = creationRequest(1, "new")
		m.ValidateOnly = true
		old.ask(m, func(res kmsg.Response) {
			seen = res.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode
		})
		require.True(t, s.until(10*time.Second, func() bool { return seen >= 0 }))
		require.EqualValues(t, 41, seen)
	}
}

func TestEveryControllerKnowsTheLeader(t *testing.T) {
	s := newCluster(t, 1, 3)
	s.startAll()
	require.True(t, s.until(20*time.Second, s.formed))
	leader := s.leader()
	for _, m := range s.machines {
		answered := false
		m.ask(&wire.MetadataFetchRequest{BrokerID: 1, FromIndex: 1, MaxBytes: 1 << 20},
			func(res kmsg.Response) {
				answered = true
				a := res.(*wire.MetadataFetchResponse)
				require.EqualValues(t, leader.node, a.LeaderID)
				require.Equal(t, m != leader, a.ErrorCode == 41)
			})
		s.run(time.Second)
		require.True(t, answered)
	}
}

// A voter that was away while the log moved on beyond its snapshot gets the snapshot.
func TestVoterThatWasAwayGetsASnapshot(t *testing.T) {
	s := newCluster(t, 5, 3)
	s.startAll()
	require.True(t, s.until(20*time.Second, s.formed))
	b := s.live(101)
	require.True(t, s.until(20*time.Second, func() bool { return !b.fenced }))
	away := s.machines[0]
	if away == s.leader() {
		away = s.machines[1]
	}
	away.crash(false)
	for i := range 40 {
		s.leader().ask(creationRequest(20, fmt.Sprint("topic-", i)), func(kmsg.Response) {})
		s.run(50 * time.Millisecond)
	}
	require.NotZero(t, s.leader().c.Metrics.Snapshots)
	away.start()
	require.True(t, s.until(20*time.Second, s.level), "%s", s.describe())
	require.NotZero(t, away.c.Metrics.Installed)
	require.Equal(t, s.leader().c.Image().AppendSnapshot(nil), away.c.Image().AppendSnapshot(nil))
}

// A leader that stops cleanly hands over: its successor leads long before anybody would have missed
// the old one.
func TestLeaderHandsOverBeforeItStops(t *testing.T) {
	s := newCluster(t, 6, 3)
	s.startAll()
	require.True(t, s.until(20*time.Second, s.formed))
	s.run(time.Second)
	old := s.leader()
	began := s.now
	old.turn(env.Event{Kind: env.EventConfig, Res: Shutdown{}})
	require.True(t, s.until(time.Second, func() bool { return old.c.Stopped() && s.leader() != nil && s.leader() != old }))
	require.Less(t, time.Duration(s.now-began), old.config.TickInterval*time.Duration(old.config.Quorum.ElectionTicks))
}
