package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// state is the file of what was judged, a line of JSON each, after a line that says of what.
type state struct {
	mu   sync.Mutex
	file *os.File
	done map[string]*judged // by id
}

// subject is what the mutants are of. A state is of one.
type subject struct {
	Source string `json:"source"` // hash of all Go files of the module, tests too
}

func openState(path string, of subject) (*state, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	s := &state{file: f, done: map[string]*judged{}}
	if err := s.read(of); err != nil {
		f.Close()
		return nil, fmt.Errorf("state: %s: %w", path, err)
	}
	return s, nil
}

// read takes in the whole lines; one that was cut short is written anew.
func (s *state) read(of subject) error {
	text, err := io.ReadAll(s.file)
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if err := s.file.Truncate(int64(len(whole))); err != nil {
		return err
	}
	if _, err := s.file.Seek(int64(len(whole)), io.SeekStart); err != nil {
		return err
	}
	if len(whole) == 0 {
		return json.NewEncoder(s.file).Encode(of)
	}
	lines := json.NewDecoder(bytes.NewReader(whole))
	var was subject
	if err := lines.Decode(&was); err != nil {
		return err
	}
	if was != of {
		return fmt.Errorf("it is of other sources: remove it, or name another")
	}
	for {
		j := &judged{}
		if err := lines.Decode(j); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		s.done[j.ID] = j
	}
}

// most returns how many seeds of each scenario a mutant was run with at most.
func (s *state) most() (n uint64) {
	for _, j := range s.done {
		n = max(n, j.Seeds)
	}
	return n
}

func (s *state) get(id string) *judged {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done[id]
}

func (s *state) add(j *judged) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[j.ID] = j
	if err := json.NewEncoder(s.file).Encode(j); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

// sourceHash hashes the names and the bytes of all Go files of the module.
func sourceHash(root string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n%s", filepath.ToSlash(name), len(text), text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("sources: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
