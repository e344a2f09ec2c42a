// Command stet is the one binary of Stet: the broker, the simulator and the tools around both.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes, as docs and help state them.
const (
	exitUsage          = 1
	exitSafety         = 10
	exitLiveness       = 11
	exitAssertion      = 12
	exitNondeterminism = 13
	exitMarkMissed     = 14
	exitInterrupted    = 130
)

// exitError ends the process with a code. Its text, if any, is printed as the one error line.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func main() {
	os.Exit(run(os.Args[1:]))
}

// run executes the command line and returns the exit code.
func run(args []string) int {
	root := rootCommand()
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	code := exitUsage
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(os.Stderr, "stet: "+strings.ReplaceAll(text, "\n", "; "))
	}
	return code
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "stet",
		Short: "A Kafka-compatible log that can be made to prove that an acknowledged record stands",
		Long: `Stet is a Kafka-compatible distributed log. One node assembly runs in production, on real
sockets and files, and in a seeded simulator that can replay every failure.

Results go to stdout, logs to stderr. Exit codes: 0 ok, 1 usage or environment, 10 safety
violated, 11 liveness violated, 12 crash or assertion, 13 nondeterminism, 14 a coverage mark was
never reached (campaigns).`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(serveCommand(), clusterCommand(), topicCommand(), simCommand(), dumpCommand())
	refuseUnknown(root)
	return root
}

// refuseUnknown makes commands that only group others refuse a name they do not know. Cobra checks
// the arguments of runnable commands only: without this, `stet dump lgo` prints help and exits 0.
func refuseUnknown(c *cobra.Command) {
	if !c.Runnable() {
		c.Args = cobra.NoArgs
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	for _, sub := range c.Commands() {
		refuseUnknown(sub)
	}
}
