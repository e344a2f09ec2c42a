package controller

import (
	"math/rand/v2"

	"stet/core/env"
	"stet/core/metadata"
)

// Controller is the loop's state. One goroutine at a time may call it.
type Controller struct {
	config *Config
	image  *metadata.Image
}

// New makes a controller that has not started: the first turn emits the job that reads the raft
// directory. The config belongs to the controller from now on and is not written by it. streams is
// called once for each use, from New.
func New(config *Config, identity env.Identity, streams func(env.Use) *rand.Rand) *Controller {
	return &Controller{config: config, image: metadata.Empty()}
}

// Turn consumes events in order and appends what they cause to out, which the caller has Reset.
// It sets out.Wake to the next deadline.
func (c *Controller) Turn(now env.Now, in []env.Event, out *env.Effects) {
	panic("not yet")
}

// Ready says whether the controller leads and answers requests.
func (c *Controller) Ready() bool { return false }

// Image returns the committed metadata, for inspection between turns.
func (c *Controller) Image() *metadata.Image { return c.image }

// Fatal returns why the controller can not go on (a corrupt raft log, a directory of another
// cluster), or nil. The node stops the process with it.
func (c *Controller) Fatal() error { return nil }
