//go:build canary

package main

import "github.com/spf13/cobra"

// plant gives the command of a node a flag that puts bugs back, so that live tests can be shown to
// fail. It is there in builds with the canary tag only.
func plant(c *cobra.Command) {
	c.Flags().Func("canary", "bugs to put back, with commas", setCanaries)
}
