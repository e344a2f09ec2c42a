package live

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/bench/load"
)

// Broker is a process under test. Its data outlives it.
type Broker struct {
	Address  string
	Dir      string // of the data
	LogFile  string // what it prints, of all its lives
	Answered time.Duration

	command string
	root    string // the repository, where the command runs
	dial    func(address string) (*load.Conn, error)
	process *exec.Cmd
	log     *os.File
}

const (
	startTimeout = 90 * time.Second
	stopTimeout  = 60 * time.Second
	pollInterval = 200 * time.Microsecond
)

// NewBroker prepares a broker without starting it. The command holds {dir} and {port}; dir is
// made if it is missing.
func NewBroker(root, command, dir string) (*Broker, error) {
	port, err := freePorts()
	if err != nil {
		return nil, err
	}
	command = strings.NewReplacer("{dir}", dir, "{port}", strconv.Itoa(port)).Replace(command)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return &Broker{
		Address: address, Dir: dir, LogFile: dir + ".log", command: command, root: root,
		dial: load.Dial,
	}, nil
}

// freePorts finds a port that is free together with the next one.
func freePorts() (int, error) {
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := first.Addr().(*net.TCPAddr).Port
		second, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1)))
		first.Close()
		if err == nil {
			second.Close()
			return port, nil
		}
	}
	return 0, errors.New("no two neighbouring ports are free")
}

// Start runs the command and waits for the first answer to an ApiVersions request. Answered is the
// time from exec until then.
func (b *Broker) Start() error {
	begin := time.Now()
	if err := b.Launch(); err != nil {
		return err
	}
	return b.await(begin)
}

// Launch runs the command.
func (b *Broker) Launch() error {
	var err error
	b.log, err = os.OpenFile(b.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	b.process = exec.Command("bash", "-c", "exec "+b.command)
	b.process.Dir, b.process.Stdout, b.process.Stderr = b.root, b.log, b.log
	return b.process.Start()
}

// await waits for the first answer, and kills a process that gives none.
func (b *Broker) await(begin time.Time) error {
	for time.Since(begin) < startTimeout {
		if b.answers() == nil {
			b.Answered = time.Since(begin)
			return nil
		}
		if b.exited() {
			break
		}
		time.Sleep(pollInterval)
	}
	_ = b.Kill()
	logged, _ := os.ReadFile(b.LogFile)
	return fmt.Errorf("%q does not answer: %s", b.command, logged)
}

// answers asks for the API versions once.
func (b *Broker) answers() error {
	c, err := b.dial(b.Address)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(startTimeout)); err != nil {
		return err
	}
	req := kmsg.NewPtrApiVersionsRequest()
	req.SetVersion(0)
	_, err = c.Do(req)
	return err
}

// exited says whether the process is gone (a zombie until it is waited for).
func (b *Broker) exited() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.Pid()))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// Pid is the process id of the running broker.
func (b *Broker) Pid() int { return b.process.Process.Pid }

// Running says whether a process was launched and neither killed nor stopped.
func (b *Broker) Running() bool { return b.process != nil && b.process.ProcessState == nil }

// Pause stops the process as SIGSTOP does, in the middle of whatever it does.
func (b *Broker) Pause() error { return b.process.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (b *Broker) Resume() error { return b.process.Process.Signal(syscall.SIGCONT) }

// Kill ends the process at once, as kill -9 does.
func (b *Broker) Kill() error {
	err := b.process.Process.Kill()
	_ = b.process.Wait()
	return errors.Join(err, b.log.Close())
}

// Stop asks the process to end and waits for it. A bad exit status is an error; 143 is a virtual
// machine's way of ending cleanly by SIGTERM.
func (b *Broker) Stop() error {
	if err := b.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	giveUp := time.AfterFunc(stopTimeout, func() { _ = b.process.Process.Kill() })
	defer giveUp.Stop()
	err := b.process.Wait()
	if b.process.ProcessState.ExitCode() == 143 {
		err = nil
	}
	return errors.Join(err, b.log.Close())
}
