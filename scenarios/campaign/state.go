package campaign

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"stet/scenarios"
)

// State is a file with a line for each run that has ended, so that a campaign which is stopped goes
// on where it was. The first line says what the runs are of:
//
//	{"Commit":"6db4d87…","Binary":"9f86d081884c7d65","Canary":"","Calm":false}
//	{"Scenario":"single-node-kill","Seed":1,…}
type State struct {
	file *os.File
	done map[run]struct{}
}

type run struct {
	scenario string
	seed     uint64
}

// Identity is what the outcome of a seed depends on.
type Identity struct {
	Commit string // "" if the build does not know it, with "+changes" if files were changed
	Binary string // 16 hex digits of the hash of the executable: generator, code and toolchain
	Canary string // bugs put back
	Calm   bool
}

// ThisBuild is the identity of the running executable.
func ThisBuild(canary string, calm bool) (Identity, error) {
	path, err := os.Executable()
	if err != nil {
		return Identity{}, fmt.Errorf("identity: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return Identity{}, fmt.Errorf("identity: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return Identity{}, fmt.Errorf("identity: %w", err)
	}
	return Identity{commit(), hex.EncodeToString(h.Sum(nil)[:8]), canary, calm}, nil
}

func (id Identity) String() string {
	text := fmt.Sprintf("commit %q, binary %s", id.Commit, id.Binary)
	if id.Canary != "" {
		text += ", canary " + id.Canary
	}
	if id.Calm {
		text += ", calm"
	}
	return text
}

// OpenState opens the state in a file, or begins one there. It refuses that of another identity,
// and one that another campaign has open.
func OpenState(path string, id Identity) (*State, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	s := &State{file: f, done: map[run]struct{}{}}
	if err := s.load(id); err != nil {
		f.Close()
		return nil, fmt.Errorf("state: %s: %w", path, err)
	}
	return s, nil
}

func (s *State) load(id Identity) error {
	if syscall.Flock(int(s.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return errors.New("another campaign has it open: wait for it or give another file")
	}
	lines := bufio.NewReader(s.file)
	first, err := lines.ReadBytes('\n')
	if errors.Is(err, io.EOF) { // new, or stopped before its first line was whole
		if len(first) > 0 && first[0] != '{' {
			return errNoState
		}
		return s.begin(id)
	}
	if err != nil {
		return err
	}
	var theirs Identity
	if json.Unmarshal(first, &theirs) != nil || theirs.Binary == "" {
		return errNoState
	}
	if theirs != id {
		return fmt.Errorf("its runs are of %s; this is %s: give another file, or run that build",
			theirs, id)
	}
	end, err := s.read(lines, int64(len(first)), func(r *scenarios.Result) {
		s.done[run{r.Scenario, r.Seed}] = struct{}{}
	})
	if err != nil {
		return err
	}
	// A line that was being written when the campaign died is written again.
	if err := s.file.Truncate(end); err != nil {
		return err
	}
	_, err = s.file.Seek(end, io.SeekStart)
	return err
}

var errNoState = errors.New("it is no state of a campaign: give another file")

func (s *State) begin(id Identity) error {
	line, err := json.Marshal(id)
	if err != nil {
		return err
	}
	if err := s.file.Truncate(0); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = s.file.Write(append(line, '\n'))
	return err
}

// read reads whole lines and returns the position where they end.
func (s *State) read(lines *bufio.Reader, at int64, take func(*scenarios.Result)) (int64, error) {
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return at, nil
		}
		if err != nil {
			return at, err
		}
		r := &scenarios.Result{}
		if err := json.Unmarshal(line, r); err != nil {
			return at, fmt.Errorf("the line at byte %d is damaged (%w): remove it or give another file",
				at, err)
		}
		take(r)
		at += int64(len(line))
	}
}

// each hands out the runs that the file has, in the order in which they ended.
func (s *State) each(take func(*scenarios.Result)) error {
	end, err := s.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	lines := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, end), 1<<16)
	first, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if _, err := s.read(lines, int64(len(first)), take); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

func (s *State) has(scenario string, seed uint64) bool {
	_, ok := s.done[run{scenario, seed}]
	return ok
}

// add appends a run. has does not see it: a campaign asks for each run once.
func (s *State) add(r *scenarios.Result) error {
	var line bytes.Buffer
	if err := json.NewEncoder(&line).Encode(r); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if _, err := s.file.Write(line.Bytes()); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

// Close closes the file, which ends the lock on it.
func (s *State) Close() error { return s.file.Close() }
