package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// refusalTimeout is how long a process may take to find out that it must not go on. A broker takes
// another one with its id for its own former life until that one's session would be over.
const refusalTimeout = 45 * time.Second

// Refusal runs the command until it ends by itself, and returns its exit code and the one line that
// says why. It is an error if it goes on, or says nothing, or more than one such line.
func (b *Broker) Refusal() (code int, line string, err error) {
	before, _ := os.ReadFile(b.LogFile)
	if err := b.Launch(); err != nil {
		return 0, "", err
	}
	giveUp := time.AfterFunc(refusalTimeout, func() { _ = b.process.Process.Kill() })
	_ = b.process.Wait()
	inTime := giveUp.Stop()
	b.log.Close()
	after, err := os.ReadFile(b.LogFile)
	if err != nil {
		return 0, "", err
	}
	said := string(after[len(before):])
	if !inTime {
		return 0, "", fmt.Errorf("it still runs after %v, and says: %s", refusalTimeout, said)
	}
	for text := range strings.Lines(said) {
		if strings.HasPrefix(text, "stet: ") {
			if line != "" {
				return 0, "", fmt.Errorf("more than one line of error: %s", said)
			}
			line = strings.TrimSpace(text)
		}
	}
	if line == "" {
		return 0, "", fmt.Errorf("no line of error: %s", said)
	}
	return b.process.ProcessState.ExitCode(), line, nil
}

// variant returns the same node with data in a directory next to its own, and with parts of its
// command replaced: old, new, old, new, as strings.NewReplacer has it.
func (b *Broker) variant(name string, replace ...string) *Broker {
	v := &Broker{Address: b.Address, Dir: b.Dir + "-" + name, root: b.root, dial: b.dial}
	v.LogFile = v.Dir + ".log"
	v.command = strings.NewReplacer(append([]string{b.Dir, v.Dir}, replace...)...).Replace(b.command)
	return v
}

// copyOf is a variant of b on a copy of the data of a node that does not run, b itself or another.
func (b *Broker) copyOf(data *Broker, name string) (*Broker, error) {
	v := b.variant(name)
	return v, os.CopyFS(v.Dir, os.DirFS(data.Dir))
}

// overwrite changes the bytes at an offset of the one file below the node's data that matches.
func (b *Broker) overwrite(pattern string, at int64, bytes ...byte) error {
	found, err := filepath.Glob(filepath.Join(b.Dir, pattern))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%s matches %v: %w", pattern, found, err)
	}
	f, err := os.OpenFile(found[0], os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(bytes, at)
	return err
}

// edit replaces text in a file below the node's data.
func (b *Broker) edit(name, old, replacement string) error {
	path := filepath.Join(b.Dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), old) {
		return fmt.Errorf("%s holds no %q: %s", path, old, text)
	}
	return os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, replacement)), 0o644)
}
