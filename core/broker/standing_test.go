package broker

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
)

// claim starts the broker and returns the previous epoch that it registers with, and the epoch under
// which it was registered before.
func (h *harness) claim() (claimed, registered kafka.BrokerEpoch) {
	registered = h.broker.register.epoch
	if self := h.controller.image.Broker(h.config.NodeID); self != nil {
		registered = self.Epoch
	}
	h.start()
	return kafka.BrokerEpoch(h.controller.claims[len(h.controller.claims)-1]), registered
}

func (h *harness) requireClean(why string) {
	h.t.Helper()
	claimed, registered := h.claim()
	require.Equal(h.t, registered, claimed, why)
}

func (h *harness) requireUnclean(why string) {
	h.t.Helper()
	claimed, _ := h.claim()
	require.EqualValues(h.t, -1, claimed, why)
}

func serving(t *testing.T) *harness {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	return h
}

func TestFirstStartContinuesNothing(t *testing.T) {
	require.EqualValues(t, -1, serving(t).controller.claims[0])
}

func TestKilledProcessIsContinued(t *testing.T) {
	h := serving(t)
	for range 3 {
		h.kill()
		h.requireClean("the page cache has what the process wrote")
	}
}

func TestPowerLossIsNotClean(t *testing.T) {
	h := serving(t)
	h.kill()
	h.bootID = "second"
	h.requireUnclean("what was not synced may be gone")
	h.kill()
	h.requireClean("the life that registered as unclean was killed")
}

func TestBootWithoutAnIDProvesNothing(t *testing.T) {
	h := serving(t)
	h.kill()
	h.bootID = ""
	h.start()
	h.kill()
	h.requireUnclean("two boots that could not be told apart")
}

func TestCleanStopStandsWhateverTheBoot(t *testing.T) {
	h := serving(t)
	h.stop()
	h.bootID = "second"
	h.requireClean("all was synced")
}

func TestProcessKilledBeforeItRegistersBreaksNoChain(t *testing.T) {
	h := serving(t)
	for range 40 { // more than a chain is long
		h.kill()
		h.controller.silent = true
		h.launch()
	}
	h.kill()
	h.controller.silent = false
	h.requireClean("none of them lost anything")
}

func TestProcessKilledBeforeItKnowsItsEpochIsContinued(t *testing.T) {
	h := serving(t)
	h.kill()
	h.controller.deaf = true // the answer to the registration is lost
	h.launch()
	require.False(t, h.broker.register.known)
	h.kill()
	h.controller.deaf = false
	h.requireClean("the metadata know under which epoch it was registered")
}

func TestFailureOfALogIsRememberedOnce(t *testing.T) {
	for _, end := range []string{"kill", "stop"} {
		for _, operation := range []string{"write", "sync"} {
			h := newHarness(t, func(c *Config) { c.Topic.FlushMessages = 1 })
			h.createTopic("orders", 1)
			h.failOp = operation
			h.produce(1, "orders", 0, "a")
			if end == "kill" {
				h.kill()
			} else {
				h.stop()
			}
			h.requireUnclean("a " + operation + " has failed before the " + end)
			h.kill()
			h.requireClean("the cluster knows of that failure")
		}
	}
}

func TestFailureIsRememberedOnADiskThatMakesNoFiles(t *testing.T) {
	h := serving(t)
	fail := h.world.Disk.Fail
	h.world.Disk.Fail = func(op, name string) env.Errno {
		if op == "open" && name == commitlog.DamageName {
			return env.ENOSPC
		}
		return fail(op, name)
	}
	h.failOp = "write"
	h.produce(1, "orders", 0, "b")
	require.Nil(t, h.world.Disk.Content(commitlog.LifeName))
	h.kill()
	h.world.Disk.Fail = fail
	h.requireUnclean("a write has failed")
}

func TestFailureIsRememberedWhileTheChainIsCut(t *testing.T) {
	h := serving(t)
	full := func(op, name string) env.Errno {
		if op == "open" && name == commitlog.DamageName {
			return env.ENOSPC // so that the life is taken away, which the cut writes
		}
		return env.OK
	}
	for range 20 { // the two jobs run in either order
		h.kill()
		h.watch = func() {
			if d := h.broker.directories; len(d) > 0 && d[0].noting > 0 {
				h.watch, h.world.Disk.Fail = nil, full
				h.out.Reset()
				h.broker.out = &h.out
				h.broker.noteDamage(0)
				h.world.Perform(&h.out)
			}
		}
		h.start()
		require.Nil(t, h.watch, "the chain was cut")
		require.Nil(t, h.world.Disk.Content(commitlog.LifeName))
		h.kill()
		h.world.Disk.Fail = h.fail
		h.requireUnclean("a write has failed")
	}
}

func TestFailedSyncAtTheStartIsNotCleanAndMended(t *testing.T) {
	h := serving(t)
	h.kill()
	var rewritten bool
	h.recorded = func(op string) {
		rewritten = rewritten || strings.HasPrefix(op, "write orders-0/") && strings.HasSuffix(op, ".log")
	}
	h.failOp = "sync"
	h.requireUnclean("pages may be gone")
	require.True(t, rewritten, "what the page cache has is written once more")
}

func TestRolledBackDirectoryIsNotClean(t *testing.T) {
	h := serving(t)
	old := h.world.Disk.Content(commitlog.LifeName)
	h.kill()
	h.requireClean("a kill")
	h.kill()
	h.world.Disk.SetContent(commitlog.LifeName, old)
	h.requireUnclean("another life has registered since")
}

func TestLifeOfAnotherDirectoryIsNotContinued(t *testing.T) {
	h := serving(t)
	h.kill()
	life, err := commitlog.DecodeLife(h.world.Disk.Content(commitlog.LifeName))
	require.NoError(t, err)
	life.DirectoryID = "AAAAAAAAAAAAAAAAAAAAAA"
	h.world.Disk.SetContent(commitlog.LifeName, commitlog.AppendLife(nil, life))
	h.requireUnclean("the file was brought from elsewhere")
}

func TestRegistrationWithoutADirectoryProvesNothing(t *testing.T) {
	h := serving(t)
	h.kill()
	self := *h.controller.image.Broker(1)
	self.Epoch, self.Directories = -1, nil
	h.controller.commit(&metadata.BrokerRecord{Broker: self})
	h.requireUnclean("nothing says where its replicas were")
}

func TestChainIsCutWhenTheLifeIsRegistered(t *testing.T) {
	h := serving(t)
	h.kill()
	h.start()
	life, err := commitlog.DecodeLife(h.world.Disk.Content(commitlog.LifeName))
	require.NoError(t, err)
	require.Equal(t, h.broker.identity.Incarnation, life.Incarnation)
	require.Empty(t, life.Before)
	h.kill()
	h.requireClean("what was cut is not needed any more")
}

func TestReplacedDirectoryIsNotClean(t *testing.T) {
	h := serving(t)
	h.stop()
	h.world = logtest.NewWorld(rand.New(rand.NewPCG(3, 4)))
	h.world.Disk.Fail = h.fail
	h.requireUnclean("the directory that was registered is gone")
}

func TestDiskThatTakesNoNoteOfALifeIsNotClean(t *testing.T) {
	h := serving(t)
	h.kill()
	fail := h.world.Disk.Fail
	h.world.Disk.Fail = func(op, name string) env.Errno {
		if op == "write" && name == commitlog.LifeName+".tmp" {
			return env.ENOSPC
		}
		return fail(op, name)
	}
	h.requireUnclean("the last life could not have noted a failure, either")
}

// TestStandingAtEveryCrashPoint crashes lives at every operation of the disk. A kill is never taken
// for damage. A power loss is, unless all that was acknowledged is there.
func TestStandingAtEveryCrashPoint(t *testing.T) {
	for _, power := range []bool{false, true} {
		for fuse := 0; ; fuse++ {
			h := serving(t)
			acknowledged := 1
			h.world.Disk.Fuse = fuse
			finished := logtest.Attempt(func() {
				h.stop()
				h.start()
				if h.produce(1, "orders", 0, "b").ErrorCode == 0 {
					acknowledged++
				}
				h.kill()
				h.start()
			})
			h.world.Disk.Fuse = -1
			h.kill()
			if power {
				h.bootID = "second"
				h.world.Disk.LosePower()
			}
			claimed, registered := h.claim()
			end := int(h.broker.host.all[0].LogEndOffset())
			if !power || claimed >= 0 {
				require.Equal(t, registered, claimed, "fuse %d", fuse)
				require.GreaterOrEqual(t, end, acknowledged, "fuse %d", fuse)
			}
			if finished {
				require.Greater(t, fuse, 50)
				break
			}
		}
	}
}

// standingModel draws lives and says what each may claim: the registered epoch if nothing has happened
// to the directory since that registration that may have cost something, and nothing else.
type standingModel struct {
	*harness
	random *rand.Rand
	harmed bool
	fallen bool // whether the process is down
}

func (m *standingModel) step() {
	switch what := m.random.IntN(8); {
	case m.fallen:
		m.begin(what)
	case what < 2:
		m.produce(1, "orders", 0, "a")
	case what == 2:
		m.failOp = []string{"write", "sync"}[m.random.IntN(2)]
		m.produce(1, "orders", 0, "b")
		m.harmed = m.harmed || m.failOp == ""
		m.failOp = ""
	case what == 3:
		m.stop()
		if m.random.IntN(2) == 0 {
			m.bootID += "+"
		}
		m.fallen = true
	case what == 4:
		m.kill()
		m.world.Disk.LosePower()
		m.bootID += "+"
		m.harmed, m.fallen = true, true
	default:
		m.kill()
		m.fallen = true
	}
}

// begin starts a process: one that registers, one that does not get so far, or one that is killed on
// the way.
func (m *standingModel) begin(what int) {
	switch {
	case what < 2:
		m.controller.silent = true
		m.launch()
		m.kill()
		m.controller.silent = false
	case what < 4 && !m.harmed:
		// A kill at any operation. Whether it registered or not, nothing is lost.
		m.world.Disk.Fuse = m.random.IntN(60)
		logtest.Attempt(m.start)
		m.world.Disk.Fuse = -1
		m.kill()
	default:
		claimed, registered := m.claim()
		if m.harmed {
			registered = -1
		}
		require.Equal(m.t, registered, claimed)
		m.harmed, m.fallen = false, false
	}
}

func TestBrokerClaimsWhatItMayAndNothingElse(t *testing.T) {
	for seed := range uint64(60) {
		h := newHarness(t, func(c *Config) { c.Topic.FlushMessages = 1 })
		h.createTopic("orders", 1)
		m := &standingModel{harness: h, random: rand.New(rand.NewPCG(seed, 7))}
		for range 40 {
			m.step()
		}
	}
}
