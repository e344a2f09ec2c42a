package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// imageProcess is a controller or a broker that runs on this machine's loopback.
type imageProcess struct {
	dir     string
	command string
	process *exec.Cmd
	begin   time.Time // of this life
}

func (p *imageProcess) start() error {
	log, err := os.OpenFile(p.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	p.process = exec.Command("bash", "-c", "exec "+p.command)
	p.process.Stdout, p.process.Stderr = log, log
	p.begin = time.Now()
	return p.process.Start()
}

func (p *imageProcess) stop() error {
	if p.process == nil {
		return nil
	}
	_ = p.process.Process.Signal(syscall.SIGTERM)
	giveUp := time.AfterFunc(stopTimeout, func() { _ = p.process.Process.Kill() })
	defer giveUp.Stop()
	_ = p.process.Wait()
	p.process = nil
	return nil
}

// clusterIDs are the forms in which a process tells its cluster's id: in the file where Kafka's nodes
// keep it, or in the line by which it says that it serves.
var clusterIDs = regexp.MustCompile(`(?m)^cluster\.id=(\S+)|^listening .* cluster=(\S+)$`)

func (p *imageProcess) clusterID() (string, error) {
	meta, _ := os.ReadFile(filepath.Join(p.dir, "meta.properties"))
	log, _ := os.ReadFile(p.dir + ".log")
	found := clusterIDs.FindStringSubmatch(string(meta) + "\n" + string(log))
	if found == nil {
		return "", errors.New("it does not tell the id of its cluster")
	}
	return found[1] + found[2], nil
}

// figures returns what the process has used since it was started, ready to be printed.
func (p *imageProcess) figures() (string, error) {
	u, err := usageOf(p.process.Process.Pid)
	if err != nil {
		return "", err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.process.Process.Pid))
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	var kb int64
	_, wrong := fmt.Sscan(after, &kb)
	return fmt.Sprintf("cpu_s=%.2f rss_mb=%d peak_mb=%d", u.cpu(), kb/1000, u.peakMB), errors.Join(err, wrong)
}

// diskBytes returns how large the files of the directory are.
func (p *imageProcess) diskBytes() (sum int64, err error) {
	err = filepath.WalkDir(p.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			// What is allocated, because a log may be preallocated: 512 bytes a block, on every Linux.
			sum += min(info.Size(), info.Sys().(*syscall.Stat_t).Blocks*512)
		}
		return err
	})
	return sum, err
}
