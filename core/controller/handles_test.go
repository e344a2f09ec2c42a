package controller

import (
	"strings"
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
	for i := range 5 {
		r.send(registrationRequest(1))
		r.wait()
		if b := r.c.Image().Broker(1); b != nil {
			r.send(beatRequest(int64(b.Epoch)))
			r.wait()
		}
		r.send(creationRequest(1, topicNumber(i)))
		r.wait()
	}
	require.NotZero(t, r.c.Metrics.Snapshots)
	require.NotZero(t, r.c.Image().TopicCount())
	require.NoError(t, r.c.Fatal())
	require.True(t, r.c.Ready())
	require.Len(t, r.world.Disk.OpenFiles, 1, "operation %d, %d times", at, burst)
	require.Contains(t, r.world.Disk.OpenFiles[0], quorum.Directory+"/log-")
	return count > at
}

// wait lets time pass until nothing waits for it.
func (r *rig) wait() {
	r.settle()
	for r.c.life.restartAt != 0 {
		r.now.Mono = r.c.life.restartAt
		r.turn(env.Event{Kind: env.EventTick})
		r.settle()
	}
}

// A job of a failed quorum may rename a file that the next one writes, so the next one waits for it.
func TestRestartWaitsForTheJobOfTheFailedLife(t *testing.T) {
	waited := 0
	for seed := range uint64(40) {
		r := newRig(t, seed)
		r.config.Quorum.SnapshotEntries = 8
		r.boot()
		r.join(1)
		for i := 0; r.c.Metrics.Snapshots == 0; i++ {
			r.send(creationRequest(1, topicNumber(i)))
			for r.c.Metrics.Snapshots == 0 && r.step() {
			}
		}
		r.world.Disk.Fail = func(op, name string) env.Errno {
			if op == "write" && strings.Contains(name, "/log-") {
				return env.EIO
			}
			return env.OK
		}
		r.send(creationRequest(1, "last"))
		for r.c.life.restartAt == 0 && r.step() {
		}
		r.world.Disk.Fail = nil
		require.NotZero(t, r.c.life.restartAt)
		r.now.Mono = r.c.life.restartAt
		if r.world.Jobs() > 0 {
			waited++
			require.Equal(t, 1, r.world.Jobs())
			r.turn(env.Event{Kind: env.EventTick})
			require.Equal(t, 1, r.world.Jobs(), "the recovery has begun")
		}
		r.turn(env.Event{Kind: env.EventTick})
		r.wait()
		require.True(t, r.c.Ready())
	}
	require.Positive(t, waited)
}

func TestFailureAndJobOfOneTurnDoNotHoldUpTheRestart(t *testing.T) {
	r := newRig(t, 1)
	r.config.Quorum.SnapshotEntries = 8
	r.boot()
	r.join(1)
	for i := 0; r.c.Metrics.Snapshots == 0; i++ {
		r.send(creationRequest(1, topicNumber(i)))
		for r.c.Metrics.Snapshots == 0 && r.step() {
		}
	}
	job := r.c.life.quorum.UnderWay()
	require.NotZero(t, job)
	failure := env.Event{
		Kind: env.EventFileDone, FileOp: env.FileWrite, Err: env.EIO,
		File: env.MakeFileID(0, r.c.life.owner, 1),
	}
	done := env.Event{Kind: env.EventJobDone, Token: job, Res: quorum.SnapshotDone{Err: env.EIO}}
	r.turn(failure, done)
	require.Zero(t, r.c.life.lingering)
}
