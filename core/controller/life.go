package controller

import (
	"encoding/binary"
	"fmt"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/metadata"
	"stet/core/quorum"
)

// life is one run of the quorum, from recovery to its failure.
type life struct {
	owner     env.Owner      // new for each life, so that late events of another are told apart
	recovery  env.Token      // of the job that reads the raft directory; zero when it is done
	quorum    *quorum.Quorum // nil while there is none
	restartAt env.Mono       // when to recover again, unless lingering; zero: not waiting
	lingering env.Token      // of the failed quorum's job, which may still write
	failures  int            // in a row
}

// recover starts a new life with the job that reads the raft directory.
func (c *Controller) recover() {
	if c.fatal != nil {
		return
	}
	c.life = life{owner: c.life.owner + 1, failures: c.life.failures}
	// The quorum counts its tokens from 1; the largest is this one's.
	c.life.recovery = env.MakeToken(c.life.owner, 1<<40-1)
	job := &quorum.RecoverJob{
		Config: &c.config.Quorum, NodeID: c.config.NodeID, NewDirectory: c.newDirectory(),
	}
	c.out.Jobs = append(c.out.Jobs, env.JobStart{Token: c.life.recovery, Job: job})
}

// newDirectory draws the id that the data directory gets if it has none.
func (c *Controller) newDirectory() (id [16]byte) {
	binary.LittleEndian.PutUint64(id[:], c.identity.Uint64())
	binary.LittleEndian.PutUint64(id[8:], c.identity.Uint64())
	return id
}

// recovered loads the state that the job has found, and starts the quorum.
func (c *Controller) recovered(r *quorum.Recovered) {
	c.life.recovery = 0
	if err := r.Failure(); err != nil {
		if r.Refused {
			c.fail(err)
		} else {
			c.restartLater(err)
		}
		return
	}
	c.opened = true
	c.directory, c.voter = r.DirectoryID, r.Voter
	if c.load(r.Start, r.Snapshot); c.fatal == nil {
		c.bootstrap.begin(c, r)
	}
}

// load replaces the image by that of a snapshot.
func (c *Controller) load(at quorum.Position, snapshot []byte) {
	image := metadata.Empty()
	if len(snapshot) > 0 {
		var err error
		if image, err = c.config.Levels.DecodeSnapshot(snapshot); err != nil {
			c.fail(err)
			return
		}
		invariant.Always(uint64(image.Index()) == at.Index,
			"a snapshot is of another index than its file")
	}
	c.image = image
}

// form starts the quorum that a directory is of.
func (c *Controller) form(r *quorum.Recovered) {
	c.life.quorum = quorum.New(&c.config.Quorum, c.life.owner, r, c.out)
}

// restart recovers if the pause after a failure is over and nothing else writes to the directory.
func (c *Controller) restart() {
	if c.life.restartAt != 0 && c.life.lingering == 0 && c.now.Mono >= c.life.restartAt {
		c.recover()
	}
}

// restartLater ends a life: nothing more is answered from its log. Whether what was proposed
// survives is not known, so whoever waits is told to find a controller and ask again.
func (c *Controller) restartLater(err error) {
	invariant.Sometimes(true, invariant.MarkRaftRestarted)
	c.Metrics.Restarts++
	c.life.failures++
	c.resign()
	c.snapshots.refuse(c)
	if q := c.life.quorum; q != nil {
		c.life.lingering = q.UnderWay()
		c.life.quorum = nil
	}
	pause := c.config.RestartPause << min(c.life.failures-1, 5)
	c.life.restartAt = c.now.Mono.Add(pause)
	c.trace(TraceLogFailed, int64(c.life.failures), int64(pause), 0,
		"the raft log in "+c.config.Directory+" can not be used: "+err.Error())
}

// fail stops the controller for good: what its directory holds can not be used.
func (c *Controller) fail(err error) {
	if c.fatal != nil {
		return
	}
	c.fatal = fmt.Errorf("data directory %s: %w", c.config.Directory, err)
	if c.life.quorum != nil {
		c.life.quorum.Close(c.out)
	}
	c.life.quorum, c.life.recovery, c.life.restartAt = nil, 0, 0
	c.resign()
	c.snapshots.refuse(c)
	c.trace(TraceFatal, 0, 0, 0, c.fatal.Error())
}
