package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"stet/scenarios"
)

// bench builds mutants and runs them. The tree is left as it is: the compiler is told to read the
// mutated file in place of the real one.
type bench struct {
	root   string // of the module, absolute
	dir    string // for what is made
	seeds  uint64 // of each scenario
	budget time.Duration
	mu     sync.Mutex
	tested map[string]bool // packages whose tests pass without a mutant
}

// workshop is the directory of one mutant.
type workshop struct {
	*bench
	dir     string
	overlay string
}

// set puts a mutant on the bench.
func (b *bench) set(s *site) (*workshop, error) {
	original := filepath.Join(b.root, filepath.FromSlash(s.File))
	source, err := os.ReadFile(original)
	if err != nil {
		return nil, fmt.Errorf("mutant: %w", err)
	}
	dir, err := os.MkdirTemp(b.dir, "mutant")
	if err != nil {
		return nil, fmt.Errorf("mutant: %w", err)
	}
	w := &workshop{bench: b, dir: dir, overlay: filepath.Join(dir, "overlay.json")}
	mutated := filepath.Join(dir, "mutated.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: mutated}})
	if err == nil {
		err = errors.Join(os.WriteFile(mutated, s.apply(source), 0o644),
			os.WriteFile(w.overlay, overlay, 0o644))
	}
	if err != nil {
		return nil, fmt.Errorf("mutant: %w", err)
	}
	return w, nil
}

func (w *workshop) clear() { os.RemoveAll(w.dir) }

var errNoBuild = errors.New("does not build")

// gotool runs the go command in the module. An error of the compiler wraps errNoBuild.
func (b *bench) gotool(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.root
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return fmt.Errorf("%w: go %s: %s", errNoBuild, strings.Join(args, " "), out)
	}
	return fmt.Errorf("go: %w", err)
}

// build makes the binary. That the mutated package compiles is known.
func (w *workshop) build(ctx context.Context) (binary string, err error) {
	binary = filepath.Join(w.dir, "stet")
	err = w.gotool(ctx, "build", "-overlay", w.overlay, "-buildvcs=false", "-o", binary, "./cmd/stet")
	if errors.Is(err, errNoBuild) {
		err = fmt.Errorf("the mutated package compiles, the binary does not: %s", err)
	}
	return binary, err
}

// limited is a command under a bound of memory and one of CPU time: a mutant may take all it can
// get, and wall time says little on a machine that does other work. The kernel kills what goes over
// the second.
func limited(cpu time.Duration, binary string, args ...string) []string {
	const kilobytes = 6_000_000
	script := fmt.Sprintf(`ulimit -v %d; ulimit -t %d; exec "$0" "$@"`, kilobytes,
		int64(cpu.Seconds()))
	return append([]string{"sh", "-c", script, binary}, args...)
}

// wallLimit ends what hangs without using the CPU.
const wallLimit = 15 * time.Minute

// test runs the unit tests of the mutated package and returns what killed the mutant, "" if none.
func (w *workshop) test(ctx context.Context, dir string) (killer string, err error) {
	if err := w.testNormal(ctx, dir); err != nil {
		return "", err
	}
	binary := filepath.Join(w.dir, "tests")
	err = w.gotool(ctx, "test", "-c", "-overlay", w.overlay, "-o", binary, "./"+dir)
	if errors.Is(err, errNoBuild) {
		return "build of the tests", nil // a constant that a test holds against the code
	}
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) {
		return "", nil // the package has no tests
	}
	out, err := w.runTests(ctx, binary, dir)
	if err == nil || ctx.Err() != nil {
		return "", ctx.Err()
	}
	return firstFailure(string(out)), nil
}

func (b *bench) runTests(ctx context.Context, binary, dir string) ([]byte, error) {
	command := limited(b.budget, binary, "-test.timeout", wallLimit.String())
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = filepath.Join(b.root, filepath.FromSlash(dir))
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() < 0 {
		out = append(out, "\npanic: test timed out: "+cmd.ProcessState.String()...)
	}
	return out, err
}

// testNormal runs the tests of a package as it is, once. They have to pass, within the budget.
func (b *bench) testNormal(ctx context.Context, dir string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tested[dir] {
		return nil
	}
	binary := filepath.Join(b.dir, "normal-"+path.Base(dir))
	if err := b.gotool(ctx, "test", "-c", "-o", binary, "./"+dir); err != nil {
		return err
	}
	if _, err := os.Stat(binary); err == nil {
		if out, err := b.runTests(ctx, binary, dir); err != nil {
			return fmt.Errorf("%s: without a mutant: %w: %s", dir, err, out)
		}
	}
	b.tested[dir] = true
	return nil
}

// firstFailure returns the name of the first test that failed, or what ended the binary.
func firstFailure(out string) string {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			return strings.Fields(name)[0]
		}
		if strings.HasPrefix(line, "panic: test timed out") {
			return string(scenarios.Timeout)
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return oneLine(line)
		}
	}
	return "ended"
}
