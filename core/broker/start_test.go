package broker

import (
	"testing"

	"stet/core/commitlog"
	"stet/core/env"

	"github.com/stretchr/testify/require"
)

// scanned restarts a broker that was stopped cleanly and says whether its log was scanned.
func (h *harness) scanned() bool {
	h.start()
	return h.broker.host.all[0].Counters.RecoveredBytes > 0
}

func stoppedWithARecord(t *testing.T) *harness {
	h := newHarness(t, nil)
	h.createTopic("orders", 1)
	h.produce(1, "orders", 0, "a")
	h.stop()
	return h
}

func TestMarkerOfAnEarlierLifeIsNotBelieved(t *testing.T) {
	h := stoppedWithARecord(t)
	marker := h.world.Disk.Content(commitlog.CleanMarkerName)
	require.False(t, h.scanned())
	h.produce(1, "orders", 0, "b")
	h.kill()
	h.world.Disk.SetContent(commitlog.CleanMarkerName, marker)
	require.True(t, h.scanned())
	require.EqualValues(t, 2, h.produce(1, "orders", 0, "c").BaseOffset)
}

func TestMarkerOfAnotherDirectoryIsNotBelieved(t *testing.T) {
	h := stoppedWithARecord(t)
	for _, name := range []string{commitlog.CleanMarkerName, commitlog.LifeName} {
		life, err := commitlog.DecodeLife(h.world.Disk.Content(name))
		require.NoError(t, err)
		life.DirectoryID = "AAAAAAAAAAAAAAAAAAAAAA"
		h.world.Disk.SetContent(name, commitlog.AppendLife(nil, life))
	}
	require.True(t, h.scanned())
}

func TestMarkerOfAnotherBootIsNotBelieved(t *testing.T) {
	h := stoppedWithARecord(t)
	life, err := commitlog.DecodeLife(h.world.Disk.Content(commitlog.CleanMarkerName))
	require.NoError(t, err)
	life.BootID = "another"
	h.world.Disk.SetContent(commitlog.CleanMarkerName, commitlog.AppendLife(nil, life))
	require.True(t, h.scanned())
}

func TestMarkerWithoutALifeIsNotBelieved(t *testing.T) {
	h := stoppedWithARecord(t)
	h.world.Disk.SetContent(commitlog.LifeName, nil)
	require.True(t, h.scanned())
}

func TestCleanStopOutlivesTheBoot(t *testing.T) {
	h := stoppedWithARecord(t)
	h.bootID = "the next boot"
	require.False(t, h.scanned())
}

func TestStartErrorsNameTheDirectoryAsItWasGiven(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.Directories = []string{"../some/data"} })
	h.stop()
	h.world.Disk.SetContent(commitlog.MetaPropertiesName, []byte("version=1\nnode.id=3\n"))
	h.launch()
	require.EqualError(t, h.broker.Fatal(),
		"start: data directory ../some/data: belongs to node 3, this is node 1")
}

func TestLifeThatCanNotBeNotedCostsAScan(t *testing.T) {
	h := stoppedWithARecord(t)
	fail := h.world.Disk.Fail
	h.world.Disk.Fail = func(op, name string) env.Errno {
		if op == "write" && name == commitlog.LifeName+".tmp" {
			return env.ENOSPC
		}
		return fail(op, name)
	}
	require.False(t, h.scanned(), "the broker starts, and believes the last marker")
	h.stop()
	h.world.Disk.Fail = fail
	require.True(t, h.scanned(), "but its own says nothing")
}
