package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// evasions are ways around a test that looks at names only. Each has to be refused, for a reason
// that contains the text.
var evasions = []struct{ name, refusal, code string }{
	{"collected keys of a map", "maps.Keys that is not", `
		import ("maps"; "slices")
		func f(m map[int]int) []int { return slices.Collect(maps.Keys(m)) }`},
	{"range over keys of a map", "maps.Keys that is not", `
		import "maps"
		func f(m map[int]int) { for range maps.Keys(m) {} }`},
	{"all of a map", "maps.All", `
		import "maps"
		func f(m map[int]int) { for range maps.All(m) {} }`},
	{"keys as a function value", "maps.Keys that is not", `
		import "maps"
		func f(m map[int]int) { g := maps.Keys[map[int]int]; g(m) }`},
	{"renamed time", "time.Now", `
		import clock "time"
		func f() int64 { return clock.Now().UnixNano() }`},
	{"dot-imported time", "time.Since", `
		import . "time"
		var f = Since`},
	{"sleep", "time.Sleep", `
		import "time"
		func f() { time.Sleep(time.Second) }`},
	{"generic map", "range over a map", `
		func f[M ~map[K]V, K comparable, V any](m M) { for range m {} }`},
	{"generic map among others", "range over a map", `
		type table interface { ~map[int]int }
		func f[M table](m M) { for range m {} }`},
	{"named map", "range over a map", `
		type table map[string]int
		func f(m table) { for range m {} }`},
	{"pointer format", "%p", `
		import "fmt"
		func f(x *int) string { return fmt.Sprintf("at %p", x) }`},
	{"pointer format with a width, put together", "%p", `
		import "fmt"
		const verb = "%-16" + "p"
		func f(x any) string { return fmt.Sprintf("at "+verb, x) }`},
	{"pointer printed as a value", "prints an address", `
		import "fmt"
		func f(x *int) string { return fmt.Sprint(x) }`},
	{"address as a number", "address as a number", `
		import "unsafe"
		func f(x *int) uintptr { return uintptr(unsafe.Pointer(x)) }`},
	{"deletion with a side effect", "maps.DeleteFunc", `
		import "maps"
		func f(m map[int]int) (s []int) {
			maps.DeleteFunc(m, func(k, _ int) bool { s = append(s, k); return false })
			return s
		}`},
	{"mutable variable", "is assigned", `
		var counter int
		func f() int { counter++; return counter }`},
	{"variable with a field assigned", "is assigned", `
		var state struct{ last [4]int }
		func f(i int) { state.last[i] = i }`},
	{"map variable", "is assigned", `
		var seen = map[string]bool{}
		func f(s string) { seen[s] = true }`},
	{"deleted from a map variable", "refers to memory that leaks", `
		var seen = map[string]bool{"a": true}
		func f(s string) { delete(seen, s) }`},
	{"address of a variable", "address taken", `
		var counter int
		func f() *int { return &counter }`},
	{"pointer method on a variable", "could write it", `
		type clock struct{ now int }
		func (c *clock) tick() { c.now++ }
		var shared clock
		func f() { shared.tick() }`},
	{"slice variable handed out", "leaks", `
		var table = []int{1, 2}
		func f() []int { return table }`},
	{"array variable sliced", "leaks", `
		var table [4]int
		func f() { s := table[:]; s[0] = 1 }`},
	{"variable assigned by range", "is assigned", `
		var last int
		func f(s []int) { for _, last = range s {} }`},
	{"exported variable", "exported variable", `
		var Table = [2]int{1, 2}`},
	{"float arithmetic", "floating point", `
		func f(n int) int { return int(float64(n) * 1.5) }`},
	{"float by inference", "floating point", `
		func f(n int) bool { half := 0.5; return half > 0 }`},
	{"float of a duration", "floating point", `
		import "time"
		func f(d time.Duration) bool { return d.Seconds() > 1 }`},
	{"go statement", "go statement", `
		func f() { go f() }`},
	{"channel", "a channel", `
		func f() { make(chan int) <- 1 }`},
	{"generic channel", "a channel", `
		func f[C ~chan int](c C) { for range c {} }`},
	{"select", "select", `
		func f() { select {} }`},
	{"global randomness", "math/rand/v2.IntN", `
		import "math/rand/v2"
		func f() int { return rand.IntN(6) }`},
	{"own random source", "math/rand/v2.New", `
		import "math/rand/v2"
		func f() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }`},
	{"coroutine", "iter.Pull", `
		import "iter"
		func f(s iter.Seq[int]) { iter.Pull(s) }`},
	{"printing", "fmt.Println", `
		import "fmt"
		func f() { fmt.Println("x") }`},
	{"operating system", "import of os", `
		import "os"
		func f() int { return os.Getpid() }`},
	{"lock", "import of sync", `
		import "sync"
		type t struct { mu sync.Mutex }`},
}

// blameless is code that the rules must let pass.
var blameless = []struct{ name, code string }{
	{"sorted keys", `
		import ("maps"; "slices")
		func f(m map[int]int) []int { return slices.Sorted(maps.Keys(m)) }`},
	{"durations", `
		import "time"
		const wait = 3 * time.Second
		func f(d time.Duration) bool { return d > wait && d.Milliseconds() > 5 }`},
	{"constant tables and errors", `
		import ("errors"; "hash/crc32"; "slices")
		var ErrShort = errors.New("short")
		var castagnoli = crc32.MakeTable(crc32.Castagnoli)
		var names = [...]string{"a", "b"}
		var sizes = map[string]int{"a": 1}
		var keys = []int{1, 2}
		func f(i int, b []byte) (string, int, uint32, error) {
			for _, k := range keys { i += k }
			return names[i], sizes["a"] + len(keys), crc32.Checksum(b, castagnoli), ErrShort
		}
		func copied() []int { return slices.Clone(keys) }`},
	{"a random source that was given", `
		import "math/rand/v2"
		func f(r *rand.Rand) int { return r.IntN(6) }`},
	{"ordered type parameter", `
		import "cmp"
		func f[T cmp.Ordered](a, b T) T { return max(a, b) }`},
	{"iterator over bytes", `
		import "iter"
		func each(b []byte) iter.Seq[byte] {
			return func(yield func(byte) bool) { for _, c := range b { if !yield(c) { return } } }
		}
		func f(b []byte) (n int) { for c := range each(b) { n += int(c) }; return n }`},
	{"whole number written as a float constant", `
		const million = 1e6
		func f(n int) int { return n * million }`},
	{"percent signs", `
		import "fmt"
		func f(n int) string { return fmt.Sprintf("%d%%per cent", n) }`},
}

func TestPurityRulesRejectEvasions(t *testing.T) {
	u := evasionUniverse(t)
	for _, e := range evasions {
		t.Run(e.name, func(t *testing.T) {
			findings := judgeSnippet(t, u, e.code)
			require.Contains(t, strings.Join(findings, "\n"), e.refusal)
		})
	}
}

func TestPurityRulesAllowDeterministicCode(t *testing.T) {
	u := evasionUniverse(t)
	for _, e := range blameless {
		t.Run(e.name, func(t *testing.T) { require.Empty(t, judgeSnippet(t, u, e.code)) })
	}
}

// evasionUniverse has export data for what the snippets import.
func evasionUniverse(t *testing.T) *universe {
	t.Helper()
	u := &universe{fset: token.NewFileSet(), sources: map[string]*source{}}
	u.outside = exportData(t, u.fset, []string{
		"cmp", "errors", "fmt", "hash/crc32", "iter", "maps", "math/rand/v2", "os", "slices",
		"sync", "time",
	})
	return u
}

// judgeSnippet judges a package of core that holds only this code.
func judgeSnippet(t *testing.T, u *universe, code string) []string {
	t.Helper()
	const snippetPath = corePath + "/snippet"
	f, err := parser.ParseFile(u.fset, "snippet.go", "package snippet\n"+code, parser.ParseComments)
	require.NoError(t, err)
	u.sources[snippetPath] = &source{path: snippetPath, files: []*ast.File{f}}
	_, err = u.Import(snippetPath)
	require.NoError(t, err)
	return u.judge(u.sources[snippetPath])
}
