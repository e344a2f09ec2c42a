package controller

import "stet/core/quorum"

// Voter returns the voter of this life, for the judges of a simulation between turns; nil while
// there is none.
func (c *Controller) Voter() *quorum.Quorum { return c.life.quorum }
