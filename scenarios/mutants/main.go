// Mutants makes slips in the code of the core, one at a time, and counts how many of them the
// simulator finds, and how many more the unit tests.
//
//	mutants [-n N] [-seed S] [-seeds K] [-budget D] [-jobs J] [-state FILE] [-json FILE] [-floor P]
//
// A mutant is one mechanical edit of a function of core: a condition negated, a comparison or a
// constant off by one, an operator swapped, a statement left out. It is built without touching the
// tree, then judged: K seeds of every scenario until a run fails, and if none does the unit tests
// of its package. What survives both is listed: first what the seeds did not even execute; of the
// rest somebody has to say, in verdicts.txt, whether it is equivalent or a blind spot.
//
// Unlike the canaries, nobody has chosen these bugs, so the share that is found is evidence.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// flags are what the command is asked for.
type flags struct {
	n      int
	seed   uint64
	seeds  uint64
	budget time.Duration
	jobs   int
	state  string
	json   string
	floor  int
}

func main() {
	var f flags
	flag.IntVar(&f.n, "n", 100, "mutants, shared by the packages of core by lines")
	flag.Uint64Var(&f.seed, "seed", 1, "seed of the draw")
	flag.Uint64Var(&f.seeds, "seeds", 15, "seeds of each scenario that a mutant is run with")
	flag.DurationVar(&f.budget, "budget", time.Minute, "CPU time for each stage of a mutant, without builds")
	flag.IntVar(&f.jobs, "jobs", 1, "mutants at a time")
	flag.StringVar(&f.state, "state", "", "keep what was judged, and go on from it; with more seeds, "+
		"from the last of each mutant (default: in out, named after the sources)")
	flag.StringVar(&f.json, "json", "", "write the report to this file too")
	flag.IntVar(&f.floor, "floor", 0, "percent that the simulator has to kill")
	flag.Parse()
	if flag.NArg() != 0 || f.n < 1 || f.seeds < 1 || f.jobs < 1 {
		fmt.Fprintln(os.Stderr, "mutants: usage: mutants [flags], in the module's directory")
		os.Exit(1)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	r, err := run(ctx, &f)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
	r.print(os.Stdout)
	if r.Score < f.floor {
		os.Exit(1)
	}
}

// run draws, judges and reports.
func run(ctx context.Context, f *flags) (*report, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	source, err := sourceHash(root)
	if err != nil {
		return nil, err
	}
	verdicts, err := readVerdicts(filepath.Join(root, verdictsFile))
	if err != nil {
		return nil, err
	}
	packages, err := load(root)
	if err != nil {
		return nil, err
	}
	draw(packages, f.n, f.seed)
	if f.state == "" {
		f.state = fmt.Sprintf("out/mutants-%.12s.state", source)
	}
	s, err := openState(f.state, subject{source})
	if err != nil {
		return nil, err
	}
	defer s.file.Close()
	if most := s.most(); most > f.seeds {
		return nil, fmt.Errorf("the state has mutants that were run with %d seeds", most)
	}
	dir, err := os.MkdirTemp("", "stet-mutants")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &bench{
		root: root, dir: dir, seeds: f.seeds, budget: f.budget, tested: map[string]bool{},
	}
	covered := fmt.Sprintf("%s.cover.%d", f.state, f.seeds)
	if _, err := os.Stat(covered); len(s.done) == 0 || err != nil {
		if err := b.control(ctx, f.jobs, covered); err != nil {
			return nil, err
		}
	}
	reached, err := readCoverage(covered)
	if err != nil {
		return nil, err
	}
	if err := b.judgeAll(ctx, packages, s, reached, f.jobs); err != nil && ctx.Err() == nil {
		return nil, err // one that was interrupted still reports what it has
	}
	r := newReport(f, packages, s, reached, verdicts)
	if f.json == "" {
		return r, nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("json: %w", err)
	}
	return r, os.WriteFile(f.json, append(text, '\n'), 0o644)
}

// judgeAll judges mutants of each package in the order of the draw until as many as it has to give
// were judged; what does not compile makes room for the next. What is judged does not depend on how
// many are judged at a time, but on the draw alone.
func (b *bench) judgeAll(
	ctx context.Context, packages []*pkg, s *state, reached coverage, jobs int,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	turns := make(chan *pkg)
	go func() {
		defer close(turns)
		for _, p := range interleave(packages) {
			select {
			case turns <- p:
			case <-ctx.Done():
				return
			}
		}
	}()
	var wait sync.WaitGroup
	for range jobs {
		wait.Go(func() {
			for p := range turns {
				if err := b.judgeNext(ctx, p, s, reached); err != nil {
					cancel(err) // the others would only run into the same
					return
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// judgeNext judges the next site of a package that compiles.
func (b *bench) judgeNext(ctx context.Context, p *pkg, s *state, reached coverage) error {
	for ctx.Err() == nil {
		next := p.take()
		if next == nil {
			return nil // the package has no more
		}
		j := s.get(next.id())
		if j == nil || j.open() && j.Seeds < b.seeds {
			var err error
			if j, err = b.judge(ctx, next, p.Dir, reached.reached(next), j); err != nil {
				return err
			}
			if err := s.add(j); err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s %-9s %-24s %5.1fs %s\n", j.ID, j.Killer, j.By, j.Seconds, next)
		}
		if j.Killer != noBuild {
			return nil
		}
	}
	return ctx.Err()
}
