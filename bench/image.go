package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stet/bench/load"
)

// imageTimeout bounds each step of the measurement.
const imageTimeout = 5 * time.Minute

const (
	phantoms        = 3
	firstPhantom    = 101
	topicsInRequest = 10
)

// imageRun is one measurement of a controller that holds the metadata of many partitions.
type imageRun struct {
	topics, partitions, replicas, changes int
	controllerAddr, brokerAddr            string
	controller, broker                    *imageProcess
	cluster                               string
	phantoms                              []*phantom
	conn                                  *load.Conn // to the controller
}

// image lets brokers that are none register with a controller, has it create topics, and prints what
// each step costs: the creation of everything, single changes after it, a broker that is fenced, a
// restart, and a real broker that follows the metadata and hosts nothing.
func image(args []string) error {
	r := imageRun{}
	f := flag.NewFlagSet("image", flag.ExitOnError)
	f.IntVar(&r.topics, "topics", 2000, "topics")
	f.IntVar(&r.partitions, "partitions", 100, "partitions of each")
	f.IntVar(&r.replicas, "replicas", 3, "replicas of each partition, 1 to 3")
	f.IntVar(&r.changes, "changes", 200, "single changes that are timed")
	controller := f.String("controller", "bin/stet serve --data-dir {dir} --node-id 1 --roles controller "+
		"--controllers 1@127.0.0.1:{port}", "command of a controller, with {dir} and {port}")
	broker := f.String("broker", "bin/stet serve --data-dir {dir} --node-id 2 --listen 127.0.0.1:{port} "+
		"--controllers 1@127.0.0.1:{controller}", "command of a broker, with {dir}, {port} and {controller}")
	if err := f.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := r.prepare(dir, *controller, *broker); err != nil {
		return err
	}
	err = r.measure()
	if err != nil {
		for _, p := range []*imageProcess{r.controller, r.broker} {
			logged, _ := os.ReadFile(p.dir + ".log")
			fmt.Fprintf(os.Stderr, "%s\n%s\n", p.command, logged[max(0, len(logged)-2000):])
		}
	}
	return errors.Join(err, r.broker.stop(), r.controller.stop())
}

// prepare finds ports and fills in the commands.
func (r *imageRun) prepare(dir, controller, broker string) error {
	var ports []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer l.Close()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	r.controllerAddr, r.brokerAddr = "127.0.0.1:"+ports[0], "127.0.0.1:"+ports[1]
	at := func(name, command, port string) *imageProcess {
		p := &imageProcess{dir: filepath.Join(dir, name)}
		p.command = strings.NewReplacer("{dir}", p.dir, "{port}", port, "{controller}", ports[0]).
			Replace(command)
		return p
	}
	r.controller, r.broker = at("controller", controller, ports[0]), at("broker", broker, ports[1])
	return nil
}

func (r *imageRun) measure() error {
	steps := []struct {
		name string
		run  func() (string, error)
	}{
		{"empty", r.begin},
		{"create", r.create},
		{"change", r.change},
		{"fence", r.fence},
		{"restart", r.restart},
		{"change", r.change},
		{"broker", r.follow},
		{"spread", r.spread},
	}
	for _, s := range steps {
		before, err := r.controller.diskBytes()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		figures, err := s.run()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		after, err1 := r.controller.diskBytes()
		used, err2 := r.controller.figures()
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		fmt.Printf("%s %s | controller disk_bytes=%+d %s\n", s.name, figures, after-before, used)
	}
	return nil
}

func quantiles(h *load.Histogram) string {
	return fmt.Sprintf("p50_ms=%.2f p99_ms=%.2f max_ms=%.2f", milliseconds(h.Quantile(0.5)),
		milliseconds(h.Quantile(0.99)), milliseconds(h.Worst()))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
