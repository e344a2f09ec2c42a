package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// world is a network namespace and a memory cgroup for one broker at a time, and the directory for
// its data. Names carry the pid, so that several worlds can exist.
type world struct {
	name     string
	dir      string
	cgroup   string
	port     int
	dataDirs int
}

const (
	clockTicks   = 100 // of /proc/PID/stat a second, on every Linux that Go runs on
	startTimeout = 60 * time.Second
	stopTimeout  = 30 * time.Second
)

// newWorld sets everything up; limit is the memory bound in bytes.
func newWorld(dir string, limit int64) (*world, error) {
	name := fmt.Sprintf("bench%d", os.Getpid())
	w := &world{name: name, dir: dir, cgroup: "/sys/fs/cgroup/memory/" + name, port: 9092}
	steps := [][]string{
		{"ip", "netns", "add", name},
		{"ip", "-n", name, "link", "set", "lo", "up"},
	}
	for _, destination := range []string{"127.0.0.0/8", "127.0.0.1"} {
		steps = append(steps, strings.Fields("ip -n "+name+" route change table local local "+
			destination+" dev lo proto kernel scope host src 127.0.0.1 congctl cubic"))
	}
	for _, s := range steps {
		if out, err := exec.Command(s[0], s[1:]...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(s, " "), err, out)
		}
	}
	if err := os.Mkdir(w.cgroup, 0o755); err != nil {
		return nil, err
	}
	file := filepath.Join(w.cgroup, "memory.limit_in_bytes")
	return w, os.WriteFile(file, []byte(strconv.FormatInt(limit, 10)), 0o644)
}

// close removes namespace, cgroup and data.
func (w *world) close() error {
	_ = os.WriteFile(filepath.Join(w.cgroup, "memory.force_empty"), []byte("0"), 0o644)
	return errors.Join(
		exec.Command("ip", "netns", "del", w.name).Run(), os.Remove(w.cgroup), os.RemoveAll(w.dir))
}

// broker is a running broker.
type broker struct {
	process *exec.Cmd
	log     *os.File
	dir     string
	started time.Duration // from exec to the first answer
}

// start runs a broker on an empty directory and waits until it answers.
func (w *world) start(command string) (*broker, error) {
	w.dataDirs++
	b := &broker{dir: filepath.Join(w.dir, fmt.Sprintf("data%d", w.dataDirs))}
	command = strings.NewReplacer("{dir}", b.dir, "{port}", strconv.Itoa(w.port)).Replace(command)
	script := fmt.Sprintf("echo $BASHPID >%s/cgroup.procs; exec ip netns exec %s taskset -c 0 %s",
		w.cgroup, w.name, command)
	var err error
	if b.log, err = os.Create(b.dir + ".log"); err != nil {
		return nil, err
	}
	b.process = exec.Command("bash", "-c", script)
	b.process.Stdout, b.process.Stderr = b.log, b.log
	begin := time.Now()
	if err := b.process.Start(); err != nil {
		return nil, err
	}
	for time.Since(begin) < startTimeout {
		if w.client("consume", "--partitions", "0").Run() == nil {
			b.started = time.Since(begin)
			return b, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	logged, _ := os.ReadFile(b.dir + ".log")
	return nil, errors.Join(b.stop(), fmt.Errorf("no answer from %q after %v: %s", command,
		startTimeout, bytes.TrimSpace(logged)))
}

// stop ends the broker and removes its data.
func (b *broker) stop() error {
	_ = b.process.Process.Signal(syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = b.process.Process.Kill() })
	_ = b.process.Wait()
	return errors.Join(b.log.Close(), os.RemoveAll(b.dir))
}

// client runs this program inside of the world, on the other core.
func (w *world) client(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	full := append([]string{"netns", "exec", w.name, "taskset", "-c", "1", self}, args...)
	return exec.Command("ip", full...)
}

// usage is what a process has used so far.
type usage struct {
	userSeconds, systemSeconds float64
	peakMB                     int64 // largest resident set
}

func (u usage) cpu() float64 { return u.userSeconds + u.systemSeconds }

// usage reads the broker's own accounting.
func (b *broker) usage() (usage, error) { return usageOf(b.process.Process.Pid) }

// usageOf reads a process's own accounting.
func usageOf(pid int) (usage, error) {
	proc := fmt.Sprintf("/proc/%d/", pid)
	stat, err := os.ReadFile(proc + "stat")
	if err != nil {
		return usage{}, err
	}
	// The command's name may hold blanks; what follows it does not.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	status, err3 := os.ReadFile(proc + "status")
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kb, err4 := strconv.ParseInt(strings.Fields(after + " 0")[0], 10, 64)
	u := usage{user / clockTicks, system / clockTicks, kb / 1000}
	return u, errors.Join(err1, err2, err3, err4)
}

// machineBusy returns the CPU seconds that the whole machine has spent, and those stolen from it.
func machineBusy() (busy, stolen float64) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	for i, f := range strings.Fields(line)[1:] {
		v, _ := strconv.ParseFloat(f, 64)
		switch i {
		case 0, 1, 2, 5, 6: // user, nice, system, irq, softirq
			busy += v / clockTicks
		case 7:
			stolen = v / clockTicks
		}
	}
	return busy, stolen
}
