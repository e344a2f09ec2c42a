package broker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/wire"
)

func threeControllers(c *Config) {
	c.Controllers = []kafka.ControllerAddress{{Node: 11, Addr: "k1"}, {Node: 12, Addr: "k2"}, {Node: 13, Addr: "k3"}}
}

func TestSilentLinkIsLeft(t *testing.T) {
	h := newHarness(t, threeControllers)
	h.controller.silent = true
	h.tick(h.config.HeartbeatInterval.Milliseconds())
	h.tick(h.broker.linkPatience().Milliseconds() - 1)
	require.True(t, h.broker.link.up())
	h.tick(1)
	require.False(t, h.broker.link.up())
	require.Empty(t, h.broker.link.requests)
	h.controller.silent = false
	h.tick(linkPause.Milliseconds())
	h.deliver()
	require.Equal(t, "k2", h.peer)
	require.True(t, h.broker.Ready())
}

func TestLateDecisionIsNoReasonToLeaveTheLink(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.RequestTimeout = time.Second })
	h.controller.undecided = true
	m := kmsg.NewPtrInitProducerIDRequest()
	m.Version = 4
	h.ask(1, m)
	h.tick(999)
	require.Empty(t, h.take())
	h.tick(1)
	require.EqualValues(t, kafka.CoordinatorLoadInProgress, h.one().(*kmsg.InitProducerIDResponse).ErrorCode)
	require.True(t, h.broker.link.up())
	require.Len(t, h.dialled, 1)
}

func TestOnlyControllerIsAskedAgainOverTheSameLink(t *testing.T) {
	h := newHarness(t, nil)
	h.controller.leader = "nobody"
	h.tick(h.config.HeartbeatInterval.Milliseconds())
	h.deliver()
	require.True(t, h.broker.link.up())
	require.Len(t, h.dialled, 1)
	h.controller.leader = ""
	h.tick(linkPause.Milliseconds())
	h.deliver()
	require.Len(t, h.dialled, 1)
}

// answerFetch gives an answer of the controller to the metadata fetch that waits.
func (h *harness) answerFetch(m *wire.MetadataFetchResponse) {
	slot := h.controller.waiting[len(h.controller.waiting)-1]
	h.controller.waiting = nil
	h.turn(env.Event{Kind: env.EventResponse, Conn: h.link, Slot: slot, Res: m})
}

func TestImageDoesNotGoBack(t *testing.T) {
	h := newHarness(t, nil)
	early := h.broker.image
	h.createTopic("orders", 1)
	image := h.broker.image
	h.answerFetch(&wire.MetadataFetchResponse{
		CommittedIndex: int64(early.Index()), SnapshotIndex: int64(early.Index()),
		Snapshot: early.AppendSnapshot(nil),
		Entries:  []wire.MetadataEntry{{Index: 1, Record: h.controller.entries[0]}},
	})
	require.NoError(t, h.broker.Fatal())
	require.Same(t, image, h.broker.image)
	require.Zero(t, h.produce(1, "orders", 0, "a").ErrorCode)
}

func TestControllerThatKnowsLessIsLeft(t *testing.T) {
	h := newHarness(t, threeControllers)
	h.answerFetch(&wire.MetadataFetchResponse{ErrorCode: int16(kafka.OffsetOutOfRange), SnapshotIndex: -1})
	h.tick(linkPause.Milliseconds())
	h.deliver()
	require.Equal(t, "k2", h.peer)
}

func TestImageOfAnotherClusterIsNotActedOn(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.stop()
	h.controller = newStandIn()
	h.controller.image, h.controller.entries = metadata.Empty(), nil
	h.controller.commit(&metadata.ClusterRecord{ID: "BAAAAAAAAAAAAAAAAAAAAA", Features: metadata.Features{Level: 1}})
	h.launch()
	require.EqualError(t, h.broker.Fatal(), "data directory ./data is of cluster "+
		"AAAAAAAAAAAAAAAAAAAAAA, the controller of BAAAAAAAAAAAAAAAAAAAAA")
	require.Empty(t, h.broker.image.ClusterID())
	require.NotEmpty(t, h.world.Disk.Names("orders-0"))
}

func TestNothingIsDeletedByHalfAnImage(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	h.kill()
	full := h.controller
	h.controller = newStandIn()
	h.controller.silent = true // it answers metadata fetches, and no registration
	h.launch()
	require.NotEmpty(t, h.broker.image.ClusterID())
	require.NotEmpty(t, h.world.Disk.Names("orders-0"), "the image may be half of what there is")
	full.waiting, h.controller = h.controller.waiting, full
	h.answerFetch(&wire.MetadataFetchResponse{
		CommittedIndex: int64(full.image.Index()), SnapshotIndex: int64(full.image.Index()),
		Snapshot: full.image.AppendSnapshot(nil),
	})
	h.tick(h.broker.linkPatience().Milliseconds()) // the registration was not answered
	h.tick(linkPause.Milliseconds())
	h.deliver()
	require.EqualValues(t, 1, h.produce(1, "orders", 0, "b").BaseOffset)
}

func TestBrokerRegistersWhenItsImageHasAllThatIsCommitted(t *testing.T) {
	h := newHarness(t, nil)
	h.kill()
	h.controller.more = 1
	h.launch()
	require.NotEmpty(t, h.broker.image.ClusterID())
	require.Len(t, h.controller.claims, 1, "what it would claim may be old")
	h.controller.more = 0
	h.tick(linkPause.Milliseconds())
	h.deliver()
	require.Len(t, h.controller.claims, 2)
}

func TestDialsPauseLonger(t *testing.T) {
	h := newHarness(t, threeControllers)
	h.controller.down = map[string]bool{"k1": true, "k2": true, "k3": true}
	h.turn(env.Event{Kind: env.EventConnClosed, Conn: h.link, Err: env.EReset})
	h.dialled = nil
	for range 100 {
		h.tick(50)
		h.deliver()
	}
	require.Less(t, len(h.dialled), 17)
	require.Greater(t, len(h.dialled), 12)
}

func TestProcessWithACopyOfTheDirectoryIsNamed(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.controller.stale, h.controller.copied, h.controller.deaf = true, true, true
	h.tick(h.config.HeartbeatInterval.Milliseconds())
	h.deliver()
	require.EqualError(t, h.broker.Fatal(),
		"another process with a copy of data directory ./data has registered as broker 1")
	require.False(t, h.broker.host.all[0].Leading(), "what the metadata say is about the other")
}

func TestBrokerThatIsForgottenRegistersAgain(t *testing.T) {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	before := h.broker.register.epoch
	h.controller.commit(&metadata.BrokerRemovalRecord{ID: 1, Epoch: before})
	h.controller.publish(h)
	h.deliver()
	require.Greater(t, h.broker.register.epoch, before)
	require.True(t, h.broker.Ready())
}

func TestProducerIDsAreAskedOfTheControllerThatLeads(t *testing.T) {
	h := newHarness(t, threeControllers)
	h.controller.leader = "k3"
	m := kmsg.NewPtrInitProducerIDRequest()
	m.Version = 4
	ask := func() kafka.ErrorCode {
		h.ask(1, m)
		h.deliver()
		return kafka.ErrorCode(h.one().(*kmsg.InitProducerIDResponse).ErrorCode)
	}
	require.Equal(t, kafka.CoordinatorLoadInProgress, ask(), "k1 leads no more")
	for range 3 {
		h.tick(100)
		h.deliver()
	}
	require.Equal(t, "k3", h.peer)
	require.Equal(t, kafka.None, ask())
}

// A controller that begins to lead begins all sessions anew, that of this broker's former process too. So
// the patience with it counts for each of them.
func TestPatienceWithAFormerSessionCountsForEachController(t *testing.T) {
	h := newHarness(t, nil)
	h.kill()
	h.controller.duplicate = true
	h.launch()
	wait := func() {
		for end := h.now.Mono.Add(h.config.DuplicateTimeout - time.Second); h.now.Mono < end; {
			h.tick(h.config.HeartbeatInterval.Milliseconds())
			h.deliver()
			if len(h.controller.waiting) > 0 { // the link is alive
				h.answerFetch(&wire.MetadataFetchResponse{CommittedIndex: int64(h.controller.image.Index())})
				h.deliver()
			}
		}
	}
	for range 3 { // elections
		wait()
		require.NoError(t, h.broker.Fatal())
		h.turn(env.Event{Kind: env.EventConnClosed, Conn: h.link})
		h.tick(linkPause.Milliseconds())
		h.deliver()
	}
	wait()
	wait()
	require.ErrorContains(t, h.broker.Fatal(), "another broker with node id 1 is alive")
}
