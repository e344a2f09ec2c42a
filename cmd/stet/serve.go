package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"stet/core/env"
	"stet/core/kafka"
	"stet/node"
	"stet/node/recording"
	"stet/node/system"
)

const defaultListen = "127.0.0.1:9092"

// serveFlags are the settings of a node, wherever they came from.
type serveFlags struct {
	DataDir     string
	Listen      string
	Advertise   string
	NodeID      int32
	Roles       string
	Controllers string
	Rack        string
	Record      string
	Config      string
	LogFormat   string
	Set         []string
}

func serveCommand() *cobra.Command {
	return serveCommandInto(new(serveFlags))
}

// serveCommandInto returns the command, with its flags bound to f.
func serveCommandInto(f *serveFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a node",
		Long: `Run a node until SIGTERM or SIGINT; a second signal ends it at once. When requests are
answered it prints one line:

    listening addr=HOST:PORT node=ID cluster=ID

Without --controllers the node is a cluster of its own. With it, the nodes of the list are
controllers, each at the address of its entry, and brokers too unless --roles says otherwise; nodes
that are not in the list are brokers. All nodes of a cluster are given the same list.

Settings come from flags, then the environment (STET_DATA_DIR for --data-dir), then the YAML file
given with --config (its keys are the flags; "set" is a map of Kafka names), then defaults.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return serve(c, f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.DataDir, "data-dir", "./data", "directory of the node's data")
	flags.StringVar(&f.Listen, "listen", defaultListen, "address for clients; port 0 picks one")
	flags.StringVar(&f.Advertise, "advertise", "", "address that clients are told (default: --listen)")
	flags.Int32Var(&f.NodeID, "node-id", 1, "this node's id, 0 or more")
	flags.StringVar(&f.Roles, "roles", "", "broker,controller or one of them (default: by --controllers)")
	flags.StringVar(&f.Controllers, "controllers", "", "ID@HOST:PORT of every controller, with commas")
	flags.StringVar(&f.Rack, "rack", "", "this node's rack")
	flags.StringVar(&f.Record, "record", "", "write the events of real turns to this file")
	flags.StringVar(&f.Config, "config", "", "YAML file of settings")
	flags.StringVar(&f.LogFormat, "log-format", "text", "text or json")
	flags.StringArrayVar(&f.Set, "set", nil, "KEY=VALUE under Kafka's name; may be repeated")
	plant(c)
	return c
}

func serve(c *cobra.Command, f *serveFlags) error {
	filled := fillSettings(c.Flags(), f)
	config, plan, refused := nodeConfig(f)
	logger, unknown := newLogger(f.LogFormat)
	if err := errors.Join(filled, refused, unknown); err != nil {
		return err
	}
	o := system.Options{
		Node: *config, Directories: []string{f.DataDir},
		Clients: plan.Clients, ControllerListen: controllerListen(config, plan), Logger: logger,
	}
	finish := func() error { return nil }
	if f.Record != "" {
		file, err := os.Create(f.Record)
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		o.Record, finish = recordInto(file)
	}
	err := system.Serve(stopSignals(), o, func(s system.Started) {
		fmt.Printf("listening addr=%s node=%d cluster=%s\n", cmp.Or(s.Addr, s.ControllerAddr), f.NodeID, s.ClusterID)
	})
	return errors.Join(err, finish())
}

// controllerListen is where the controller listens: where Kafka's names say, else at the node's own
// entry among the controllers. Empty if nobody else needs it.
func controllerListen(c *node.Config, plan *kafka.ListenerPlan) string {
	if len(plan.Controllers) > 0 {
		return plan.Controllers[0].Bind
	}
	return c.Controller.Advertise
}

// recordInto returns what starts a recording into file, and what ends it.
func recordInto(file *os.File) (system.RecordFunc, func() error) {
	var recorder *recording.Recorder
	start := func(seed [32]byte, c *node.Config, id env.Identity) (node.Tap, error) {
		var err error
		recorder, err = recording.NewRecorder(file, seed, c, id)
		return recorder, err
	}
	finish := func() error {
		if recorder == nil {
			return file.Close()
		}
		return errors.Join(recorder.Close(), file.Close())
	}
	return start, finish
}

// stopSignals returns a context that ends at the first SIGTERM or SIGINT; the second ends the
// process.
func stopSignals() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitInterrupted)
	}()
	return ctx
}

func newLogger(format string) (*slog.Logger, error) {
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, nil)), nil
	}
	return nil, fmt.Errorf("setting log-format: %q: give text or json", format)
}
