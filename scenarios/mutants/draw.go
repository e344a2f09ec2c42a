package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// pkg is a package of the core with the mutants that may be drawn from it.
type pkg struct {
	Dir   string // in the module
	lines int    // of code, without blank ones and comments
	sites []site // in the order in which they are drawn
	quota int
	taken atomic.Int64 // sites
}

// take returns the next site, nil if there is none.
func (p *pkg) take() *site {
	at := p.taken.Add(1) - 1
	if at >= int64(len(p.sites)) {
		return nil
	}
	return &p.sites[at]
}

// outside are packages of the core of which nothing runs in a node to decide anything: suites that
// test others, and the assertions.
var outside = []string{"core/env/envtest", "core/commitlog/logtest", "core/invariant"}

// load reads the packages below core.
func load(root string) ([]*pkg, error) {
	byDir := map[string]*pkg{}
	var order []*pkg
	err := filepath.WalkDir(filepath.Join(root, "core"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		dir := path.Dir(name)
		if slices.Contains(outside, dir) {
			return nil
		}
		source, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		found, err := sites(name, source)
		if err != nil {
			return err
		}
		if byDir[dir] == nil {
			byDir[dir] = &pkg{Dir: dir}
			order = append(order, byDir[dir])
		}
		byDir[dir].lines += codeLines(string(source))
		byDir[dir].sites = append(byDir[dir].sites, found...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read core: %w", err)
	}
	return slices.DeleteFunc(order, func(p *pkg) bool { return len(p.sites) == 0 }), nil
}

// codeLines counts lines that are neither blank nor only a comment.
func codeLines(source string) (n int) {
	for line := range strings.Lines(source) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

// draw gives each package its part of n by lines, and puts its sites in the order of the draw: a
// random family, then a random site of it, so that integers, which abound, do not crowd out the
// rest. What is drawn from a package depends on the seed and its own text alone.
func draw(packages []*pkg, n int, seed uint64) {
	share(packages, n)
	for _, p := range packages {
		h := fnv.New64a()
		h.Write([]byte(p.Dir))
		rng := rand.New(rand.NewPCG(seed, h.Sum64()))
		byFamily := map[family][]site{}
		for _, s := range p.sites {
			byFamily[s.Family] = append(byFamily[s.Family], s)
		}
		left := slices.Clone(families)
		p.sites = p.sites[:0]
		for len(left) > 0 {
			at := rng.IntN(len(left))
			of := byFamily[left[at]]
			if len(of) == 0 {
				left = slices.Delete(left, at, at+1)
				continue
			}
			i := rng.IntN(len(of))
			p.sites = append(p.sites, of[i])
			of[i] = of[len(of)-1]
			byFamily[left[at]] = of[:len(of)-1]
		}
	}
}

// share splits n over packages by lines, the largest remainders first.
func share(packages []*pkg, n int) {
	total := 0
	for _, p := range packages {
		total += p.lines
	}
	given := 0
	for _, p := range packages {
		p.quota = n * p.lines / total
		given += p.quota
	}
	byRest := slices.Clone(packages)
	slices.SortStableFunc(byRest, func(a, b *pkg) int {
		return cmp.Compare(n*b.lines%total, n*a.lines%total)
	})
	for _, p := range byRest[:n-given] {
		p.quota++
	}
}

// interleave returns a package for each mutant that it has to give, evenly, so that a run that is
// stopped has been fair to all of them.
func interleave(packages []*pkg) (out []*pkg) {
	type turn struct {
		at float64
		of *pkg
	}
	var turns []turn
	for _, p := range packages {
		for i := range p.quota {
			turns = append(turns, turn{(float64(i) + 0.5) / float64(p.quota), p})
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	for _, t := range turns {
		out = append(out, t.of)
	}
	return out
}
