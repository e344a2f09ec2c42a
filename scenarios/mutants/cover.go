package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stet/scenarios"
	"stet/scenarios/campaign"
)

// coverage says what the seeds execute in the code as it is.
type coverage map[string][]block // by file, as in site.File

// block is a run of statements.
type block struct {
	fromLine, fromColumn, toLine, toColumn int
	executed                               bool
}

// control runs all seeds without a mutant: none may fail. It leaves what they executed as text in
// the file.
func (b *bench) control(ctx context.Context, jobs int, file string) error {
	binary, data := filepath.Join(b.dir, "covered"), filepath.Join(b.dir, "coverage")
	if err := os.Mkdir(data, 0o755); err != nil {
		return fmt.Errorf("coverage: %w", err)
	}
	// Without the main package, a binary that was built for coverage writes none.
	err := b.gotool(ctx, "build", "-cover", "-coverpkg=stet/core/...,stet/cmd/stet",
		"-buildvcs=false", "-o", binary, "./cmd/stet")
	if err != nil {
		return err
	}
	var failed []string
	c := campaign.Campaign{
		Scenarios: names(), Seeds: campaign.Seeds{From: 1, To: b.seeds}, Jobs: jobs,
		Worker: []string{"env", "GOCOVERDIR=" + data, binary, "sim", "worker"},
		Failed: func(r *scenarios.Result, _ bool) { failed = append(failed, r.Line()) },
	}
	if _, err := c.Run(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("without a mutant %d runs fail, the first: %s", len(failed), failed[0])
	}
	partial := file + ".partial"
	if err := b.gotool(ctx, "tool", "covdata", "textfmt", "-i", data, "-o", partial); err != nil {
		return err
	}
	return os.Rename(partial, file)
}

// readCoverage reads the profile that control leaves.
func readCoverage(file string) (coverage, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("coverage: %w", err)
	}
	defer f.Close()
	c := coverage{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, rest, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "stet/"), ":")
		if !ok || name == "mode" {
			continue
		}
		var b block
		var statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.fromLine, &b.fromColumn, &b.toLine,
			&b.toColumn, &statements, &count); err != nil {
			return nil, fmt.Errorf("coverage: %q: %w", lines.Text(), err)
		}
		b.executed = count > 0
		c[name] = append(c[name], b)
	}
	if lines.Err() == nil && len(c) == 0 {
		return nil, fmt.Errorf("coverage: %s is empty", file)
	}
	return c, lines.Err()
}

// reached says whether the place of a mutant was executed: the innermost block around it counts,
// which is the one that begins last.
func (c coverage) reached(s *site) bool {
	var inner *block
	for i := range c[s.File] {
		b := &c[s.File][i]
		if !before(s.atLine, s.atColumn, b.fromLine, b.fromColumn) &&
			before(s.atLine, s.atColumn, b.toLine, b.toColumn) &&
			(inner == nil || before(inner.fromLine, inner.fromColumn, b.fromLine, b.fromColumn)) {
			inner = b
		}
	}
	return inner != nil && inner.executed
}

func before(line, column, otherLine, otherColumn int) bool {
	return line < otherLine || line == otherLine && column < otherColumn
}
