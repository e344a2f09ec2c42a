package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// arrows states which rooms a room stands directly above. A room may import whatever it reaches
// through arrows, and nothing else of the module; so siblings do not import sideways. The order is
// the order of the layers. A room that does not exist yet is fine; one that is missing here is not.
var arrows = []struct{ room, above string }{
	{"core/kafka", ""},
	{"core/env", "core/kafka"},
	{"core/invariant", "core/kafka"},
	{"core/env/envtest", "core/env core/invariant"},
	{"core/record", "core/env core/invariant"},
	{"core/wire", "core/record"},
	{"core/commitlog", "core/record"},
	{"core/partition", "core/wire core/commitlog"},
	{"core/quorum", "core/wire core/commitlog"},
	{"core/metadata", "core/wire core/commitlog"},
	{"core/coordinator", "core/wire core/commitlog"},
	{"core/coordinator/group", "core/coordinator"},
	{"core/coordinator/txn", "core/coordinator"},
	{"core/coordinator/share", "core/coordinator"},

	// The two loops of a node. They talk by frames, so neither imports the other.
	{"core/broker", "core/partition core/metadata core/coordinator/group core/coordinator/txn " +
		"core/coordinator/share"},
	{"core/controller", "core/quorum core/metadata"},
	{"core", "core/broker core/controller"},

	// The assembly, and the two worlds that run it.
	{"node", "core"},
	{"netio", "core/env"},
	{"diskio", "core/env"},
	{"node/system", "node netio diskio"},
	{"sim", "node"},

	// The judges know nothing of the system; what stands above them brings both together.
	{"linearizability", "core/kafka"},
	{"scenarios", "sim linearizability"},
	{"cmd/stet", "scenarios node/system"},

	// Measurements and live checks see any broker through the wire alone.
	{"bench/load", ""},
	{"bench", "bench/load"},
	{"test/live", "bench/load"},

	// The scripts of continuous integration are run as they are.
	{"ci", "scenarios"},
}

// testOnly lists what tests may import beyond the arrows of their room.
var testOnly = map[string][]string{
	"": {"core/env/envtest"}, // every room's tests
}

// worldly packages reach the outside; in the rooms that both worlds share, only the world's own
// interfaces may.
var (
	worldly     = setOf("net", "os", "os/exec", "os/signal", "syscall", "golang.org/x/sys/unix")
	roomsShared = []string{"core", "node", "sim", "linearizability"}
)

func TestImportsFollowTheLattice(t *testing.T) {
	reach := reachable(t)
	for _, file := range moduleFiles(t) {
		room := roomOf(file.dir)
		if _, known := reach[room]; !known {
			t.Errorf("%s: room %q is not in the lattice", file.name, file.dir)
			continue
		}
		for _, name := range file.imports {
			if complaint := judgeImport(reach, file, room, name); complaint != "" {
				t.Errorf("%s: %s", file.name, complaint)
			}
		}
	}
}

func judgeImport(reach map[string][]string, file goFile, room, name string) string {
	target, own := strings.CutPrefix(name, modulePath+"/")
	if !own {
		if worldly[name] && slices.Contains(roomsShared, topRoom(room)) && !file.test {
			return room + " imports " + name + ", which both worlds cannot share"
		}
		return ""
	}
	other := roomOf(target)
	switch {
	case other == room, slices.Contains(reach[room], other):
		return ""
	case file.test && (slices.Contains(testOnly[""], other) || slices.Contains(testOnly[room], other)):
		return ""
	}
	return room + " imports " + target + " against the arrows"
}

// topRoom is core for all that both worlds run of it, and the room itself otherwise.
func topRoom(room string) string {
	if strings.HasPrefix(room, "core/") {
		return "core"
	}
	return room
}

// roomOf returns the deepest room of the lattice that holds the package in dir.
func roomOf(dir string) string {
	for room := dir; room != "."; room = path.Dir(room) {
		for _, a := range arrows {
			if a.room == room {
				// Package core is a room of its own; what lies below it has to be listed.
				if room == "core" && dir != "core" {
					return dir
				}
				return room
			}
		}
	}
	return dir
}

// reachable closes the arrows. Its loop is finite because an arrow may only point up the list.
func reachable(t *testing.T) map[string][]string {
	t.Helper()
	reach := map[string][]string{}
	for _, a := range arrows {
		var rooms []string
		for below := range strings.FieldsSeq(a.above) {
			require.Contains(t, reach, below, "%s stands above a room that comes later", a.room)
			rooms = append(append(rooms, below), reach[below]...)
		}
		slices.Sort(rooms)
		reach[a.room] = slices.Compact(rooms)
	}
	return reach
}

// goFile is a source file of the module, whatever build it belongs to.
type goFile struct {
	name, dir string // relative to the module's root, with slashes
	test      bool
	imports   []string
	doc       bool // the file holds a package comment
}

// moduleFiles parses the head of every Go file of the module. Nested modules are left out.
func moduleFiles(t *testing.T) []goFile {
	t.Helper()
	const root = ".."
	var files []goFile
	require.NoError(t, filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipDir(root, name, entry)
		}
		if strings.HasSuffix(name, ".go") {
			files = append(files, parseHead(t, root, name))
		}
		return nil
	}))
	return files
}

func skipDir(root, name string, entry fs.DirEntry) error {
	if name == root {
		return nil
	}
	_, err := os.Stat(filepath.Join(name, "go.mod"))
	base := entry.Name()
	if err == nil || base == "testdata" || base == "data" || strings.HasPrefix(base, ".") {
		return filepath.SkipDir
	}
	return nil
}

func parseHead(t *testing.T, root, name string) goFile {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil,
		parser.ImportsOnly|parser.ParseComments)
	require.NoError(t, err)
	relative, err := filepath.Rel(root, name)
	require.NoError(t, err)
	relative = filepath.ToSlash(relative)
	return goFile{
		name:    relative,
		dir:     path.Dir(relative),
		test:    strings.HasSuffix(name, "_test.go"),
		imports: importPaths(f),
		doc:     f.Doc != nil,
	}
}

func importPaths(f *ast.File) []string {
	var out []string
	for _, spec := range f.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		out = append(out, name)
	}
	return out
}

// TestEveryPackageHasOneDocComment keeps the first thing that a newcomer reads, in one place.
func TestEveryPackageHasOneDocComment(t *testing.T) {
	docs, named := map[string]int{}, map[string]bool{}
	for _, file := range moduleFiles(t) {
		if file.test {
			continue
		}
		named[file.dir] = true
		if file.doc {
			docs[file.dir]++
		}
	}
	for dir := range named {
		if docs[dir] != 1 {
			t.Errorf("%s: %d package comments", dir, docs[dir])
		}
	}
}

// TestLatticeKeepsTheWorldsApart states a few consequences of the arrows, so that an edit of the
// table that loses one is seen.
func TestLatticeKeepsTheWorldsApart(t *testing.T) {
	reach := reachable(t)
	forbidden := []struct{ room, other string }{
		{"sim", "netio"},
		{"sim", "diskio"},
		{"sim", "node/system"},
		{"node", "sim"},
		{"node", "netio"},
		{"node", "diskio"},
		{"netio", "core/kafka/x"},
		{"netio", "node"},
		{"linearizability", "core/env"},
		{"linearizability", "node"},
		{"core/broker", "core/controller"},
		{"core/controller", "core/broker"},
		{"core/wire", "core/commitlog"},
		{"core/commitlog", "core/wire"},
		{"core/partition", "core/metadata"},
		{"core/env", "core/invariant"},
	}
	for _, f := range forbidden {
		require.NotContains(t, reach[f.room], f.other, "%s must not see %s", f.room, f.other)
	}
	require.Contains(t, reach["core/record"], "core/kafka")
	require.Contains(t, reach["cmd/stet"], "diskio")
}
