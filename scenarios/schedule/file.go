package schedule

import (
	"bytes"
	"fmt"
	"os"
)

// Is says whether the first line of a file is that of a schedule, of any version.
func Is(line []byte) bool { return bytes.HasPrefix(line, []byte("stet schedule ")) }

// ReadFile reads a schedule. Errors name the file.
func ReadFile(path string) (*Schedule, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := Parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// WriteFile writes a schedule.
func (s *Schedule) WriteFile(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := s.Format(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
