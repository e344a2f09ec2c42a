package controller

import (
	"testing"

	"stet/core/env"
	"stet/core/quorum"

	"github.com/stretchr/testify/require"
)

// A failed log is given up and recovered into a new file, wherever it fails; only the file in force
// stays open.
func TestRestartsLeaveNoFileOpen(t *testing.T) {
	for _, burst := range []int{1, 2, 7} {
		for at := 0; failOnce(t, at, burst); at++ {
		}
	}
}

// failOnce lets the disk operations from at on fail, as many as the burst, while topics come and go,
// and says whether there was such an operation.
func failOnce(t *testing.T, at, burst int) bool {
	r := newRig(t, uint64(at))
	r.config.Quorum.SnapshotEntries = 3
	count := 0
	r.world.Disk.Fail = func(op, _ string) env.Errno {
		count++
		if op != "close" && count > at && count <= at+burst {
			return env.EIO
		}
		return env.OK
	}
	r.boot()
	for i := range 4 {
		r.send(creationRequest(1, topicNumber(i)))
		r.settle()
		r.wait()
	}
	require.NoError(t, r.c.Fatal())
	require.True(t, r.c.Ready())
	require.Len(t, r.world.Disk.OpenFiles, 1, "operation %d, %d times", at, burst)
	require.Contains(t, r.world.Disk.OpenFiles[0], quorum.Directory+"/log-")
	return count > at
}

// wait lets time pass until nothing waits for it.
func (r *rig) wait() {
	for r.c.life.restartAt != 0 {
		r.now.Mono = r.c.life.restartAt
		r.turn(env.Event{Kind: env.EventTick})
		r.settle()
	}
}
