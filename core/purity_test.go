package core

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCoreIsPure type-checks every package of core and applies the rules of purity to it, as the
// default build has it and as a canary build with slow checks has it.
//
// The sources are read by this process, not by a child, so that the cache of go test sees them
// change.
func TestCoreIsPure(t *testing.T) {
	for _, tags := range [][]string{nil, {"canary", "slow"}} {
		u := loadCore(t, ".", tags)
		require.Contains(t, u.order, corePath, "package core itself must be covered")
		for _, p := range u.order {
			for _, complaint := range u.judge(u.sources[p]) {
				t.Errorf("tags %v: %s", tags, complaint)
			}
		}
	}
}

const (
	modulePath = "stet"
	corePath   = modulePath + "/core"
)

// source is one package as written, and as type-checked.
type source struct {
	path  string
	files []*ast.File
	types *types.Package
	info  *types.Info
}

// universe is a set of packages checked together: objects of one are identical when another uses
// them. Packages outside of the module come from the compiler's export data.
type universe struct {
	fset    *token.FileSet
	outside types.Importer
	sources map[string]*source
	order   []string // dependencies first, once checked
}

// loadCore parses and checks every package at and below dir, which holds package core.
func loadCore(t *testing.T, dir string, tags []string) *universe {
	t.Helper()
	u := &universe{fset: token.NewFileSet(), sources: map[string]*source{}}
	require.NoError(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if entry.Name() == "testdata" {
			return filepath.SkipDir
		}
		return u.parseDir(name, path.Join(corePath, filepath.ToSlash(name)), tags)
	}))
	u.outside = exportData(t, u.fset, u.externalImports())
	for _, p := range slices.Sorted(maps.Keys(u.sources)) {
		if _, err := u.Import(p); err != nil {
			t.Errorf("tags %v: %v", tags, err) // the others are judged all the same
		}
	}
	return u
}

// parseDir adds the package in dir, if there is one that a build with these tags would have.
func (u *universe) parseDir(dir, importPath string, tags []string) error {
	context := build.Default
	context.BuildTags = tags
	listed, err := context.ImportDir(dir, build.IgnoreVendor)
	if _, none := err.(*build.NoGoError); none {
		return nil
	} else if err != nil {
		return err
	}
	p := &source{path: importPath}
	for _, name := range listed.GoFiles {
		f, err := parser.ParseFile(u.fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		p.files = append(p.files, f)
	}
	if len(p.files) > 0 {
		u.sources[importPath] = p
	}
	return nil
}

// externalImports lists what the packages import from outside of the universe.
func (u *universe) externalImports() []string {
	var out []string
	for _, p := range u.sources {
		for _, f := range p.files {
			for _, spec := range f.Imports {
				name, _ := strconv.Unquote(spec.Path.Value)
				if _, own := u.sources[name]; !own && name != "unsafe" {
					out = append(out, name)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Import makes a universe a types.Importer: own packages are checked from source on first use.
func (u *universe) Import(importPath string) (*types.Package, error) {
	p, own := u.sources[importPath]
	if !own {
		return u.outside.Import(importPath)
	}
	if p.types != nil {
		return p.types, nil
	}
	p.info = &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Uses:       map[*ast.Ident]types.Object{},
		Defs:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	sizes := types.SizesFor("gc", runtime.GOARCH)
	config := &types.Config{Importer: u, Sizes: sizes, GoVersion: "go1.26"}
	checked, err := config.Check(importPath, u.fset, p.files, p.info)
	if err != nil {
		return nil, err
	}
	p.types = checked
	u.order = append(u.order, importPath)
	return checked, nil
}

// exportData returns an importer of these packages and all that they depend on.
func exportData(t *testing.T, fset *token.FileSet, paths []string) types.Importer {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "--"}
	command := exec.Command("go", append(args, paths...)...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	require.NoError(t, err)
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[name] = file
	}
	return importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) {
		return os.Open(files[name])
	})
}
