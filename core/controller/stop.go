package controller

// Shutdown is the Res of an EventConfig that asks for a clean stop. The node keeps performing
// effects and calling Turn until Stopped, or gives up: an interrupted stop is as safe as a kill.
type Shutdown struct{}

// Opened says whether the controller has read its directory, and written there what it writes
// before it takes part. It stays so while the process lives.
func (c *Controller) Opened() bool { return c.opened }

// Stopped says whether a Shutdown is complete.
func (c *Controller) Stopped() bool { return c.stopped }

func (c *Controller) configure(res any) {
	if _, ok := res.(Shutdown); ok {
		c.stopped = true
	}
}
