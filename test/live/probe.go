package live

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pssKB reads the proportional set size of a process, in units of 1,024 bytes.
func pssKB(pid int) (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(b), "\nPss:")
	if !found {
		return 0, fmt.Errorf("no Pss of process %d", pid)
	}
	return strconv.Atoi(strings.Fields(after)[0])
}

// cpuTicks is the user and system time of a process, in hundredths of a second.
func cpuTicks(pid int) (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, err := strconv.Atoi(f[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(f[12])
	return user + system, err
}

// syscalls counts what a process asked of the kernel: calls by name, and the bytes that sendfile
// passed on.
type syscalls struct {
	calls         map[string]int
	sendfileBytes int64
}

var (
	calledLine = regexp.MustCompile(`^(?:\[pid +\d+\] |\d+ +)?([a-z0-9_]+)\(`)
	sentLine   = regexp.MustCompile(`sendfile.*\) += (\d+)`)
)

// traceSyscalls follows every thread of a process with strace while work runs.
func traceSyscalls(pid int, file string, work func() error) (syscalls, error) {
	tracer := exec.Command("strace", "-f", "-p", strconv.Itoa(pid), "-o", file)
	attached, err := tracer.StderrPipe()
	if err != nil {
		return syscalls{}, err
	}
	if err := tracer.Start(); err != nil {
		return syscalls{}, err
	}
	// strace says on its standard error when it has attached; threads follow at once.
	if _, err := attached.Read(make([]byte, 4096)); err != nil {
		return syscalls{}, err
	}
	time.Sleep(300 * time.Millisecond)
	worked := work()
	if err := tracer.Process.Signal(syscall.SIGINT); err != nil {
		return syscalls{}, err
	}
	_ = tracer.Wait() // strace ends by the signal that it was sent
	b, err := os.ReadFile(file)
	if err != nil {
		return syscalls{}, err
	}
	return countSyscalls(string(b)), worked
}

func countSyscalls(trace string) syscalls {
	s := syscalls{calls: map[string]int{}}
	for line := range strings.Lines(trace) {
		if m := calledLine.FindStringSubmatch(line); m != nil {
			s.calls[m[1]]++
		}
		if m := sentLine.FindStringSubmatch(line); m != nil {
			n, _ := strconv.ParseInt(m[1], 10, 64)
			s.sendfileBytes += n
		}
	}
	return s
}
