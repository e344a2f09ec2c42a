package core

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
)

// importsAllowed is what any package of core may import besides other packages of core.
var importsAllowed = setOf(
	"bufio", "bytes", "cmp", "compress/flate", "compress/gzip", "encoding/base64",
	"encoding/binary", "encoding/hex", "errors", "fmt", "hash", "hash/crc32", "hash/fnv", "io",
	"iter", "maps", "math", "math/bits", "math/rand/v2", "slices", "sort", "strconv", "strings",
	"time",
)

// importsOfRooms is what single rooms may import beyond that. A name ending in /... allows the
// packages below it too.
var importsOfRooms = map[string][]string{
	"stet/core/invariant": {"sync/atomic"},
	"stet/core/record": {
		"unsafe", "github.com/klauspost/compress/...", "github.com/pierrec/lz4/v4",
	},
	"stet/core/wire":       {"unsafe", "github.com/twmb/franz-go/pkg/kmsg"},
	"stet/core/broker":     {"github.com/twmb/franz-go/pkg/kmsg"},
	"stet/core/controller": {"github.com/twmb/franz-go/pkg/kmsg"},
	"stet/core/quorum":     {"go.etcd.io/raft/v3/...", "google.golang.org/protobuf/proto"},
	"stet/core/env/envtest": { // a real world calls its scripts from several goroutines
		"sync", "testing", "github.com/stretchr/testify/...", "pgregory.net/rapid",
		"github.com/twmb/franz-go/pkg/kmsg",
	},
}

// namesAllowed lists, for packages that are allowed in part, the names that may be used.
// Methods go by "Type.Method"; "Type.*" allows all methods of a type.
var namesAllowed = map[string]map[string]bool{
	"time": setOf("Duration", "Duration.*", "Nanosecond", "Microsecond", "Millisecond", "Second",
		"Minute", "Hour"),
	"math/rand/v2": setOf("Rand", "Rand.*", "Source", "Source.*"),
	"maps":         setOf("Clone", "Copy", "Equal", "Collect", "Insert", "Keys", "Values"),
	"iter":         setOf("Seq", "Seq2"),
	"fmt": setOf("Sprintf", "Sprint", "Sprintln", "Errorf", "Append", "Appendf", "Appendln",
		"Fprintf", "Fprint", "Fprintln", "Stringer", "Stringer.*", "State", "State.*",
		"Formatter", "Formatter.*"),
}

// formatsPointer finds the verb %p in a format from which %% has been removed.
var formatsPointer = regexp.MustCompile(`%[-+# 0-9.*\[\]]*p`)

func setOf(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// judge returns what is impure in p, a line for each finding, in the order of the source.
func (u *universe) judge(p *source) []string {
	j := &judge{universe: u, source: p, sorted: map[*ast.Ident]bool{}}
	for _, f := range p.files {
		j.imports(f)
		j.directives(f)
		ast.Inspect(f, j.noteSortedIterators)
		ast.Inspect(f, j.node)
	}
	j.variables()
	return j.findings
}

// judge is the state of judging one package.
type judge struct {
	*universe
	*source
	sorted   map[*ast.Ident]bool // uses of maps.Keys and maps.Values that are sorted at once
	findings []string
}

func (j *judge) bad(at token.Pos, format string, args ...any) {
	where := j.fset.Position(at)
	j.findings = append(j.findings, where.String()+": "+fmt.Sprintf(format, args...))
}

func (j *judge) imports(f *ast.File) {
	for _, spec := range f.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		own := name == corePath || strings.HasPrefix(name, corePath+"/")
		if !own && !importsAllowed[name] && !matchesAny(importsOfRooms[j.path], name) {
			j.bad(spec.Pos(), "import of %s is not on the list of core", name)
		}
	}
}

func matchesAny(patterns []string, name string) bool {
	for _, pattern := range patterns {
		root, below := strings.CutSuffix(pattern, "/...")
		if name == root || below && strings.HasPrefix(name, root+"/") {
			return true
		}
	}
	return false
}

// directives refuses what reaches around the type checker.
func (j *judge) directives(f *ast.File) {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname") || strings.HasPrefix(c.Text, "//go:embed") {
				j.bad(c.Pos(), "directive %s", strings.Fields(c.Text)[0])
			}
		}
	}
}

func (j *judge) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		j.bad(n.Pos(), "go statement")
	case *ast.SelectStmt:
		j.bad(n.Pos(), "select")
	case *ast.SendStmt:
		j.bad(n.Pos(), "channel send")
	case *ast.RangeStmt:
		j.rangeOver(n)
	case *ast.CallExpr:
		j.call(n)
	case *ast.Ident:
		j.use(n)
	}
	if e, ok := n.(ast.Expr); ok {
		j.expression(e)
	}
	return true
}

// rangeOver refuses maps and channels, also behind a type parameter. Ranging over an iterator is
// fine: those that expose the order of a map are refused where they are made.
func (j *judge) rangeOver(n *ast.RangeStmt) {
	for _, under := range underlyings(j.info.TypeOf(n.X)) {
		switch under.(type) {
		case *types.Map:
			j.bad(n.Pos(), "range over a map; use slices.Sorted(maps.Keys(m))")
		case *types.Chan:
			j.bad(n.Pos(), "range over a channel")
		}
	}
}

// underlyings returns the underlying type of t, or those of all terms that a type parameter allows.
func underlyings(t types.Type) []types.Type {
	constraint, ok := t.Underlying().(*types.Interface)
	if !ok {
		return []types.Type{t.Underlying()}
	}
	var out []types.Type
	for i := range constraint.NumEmbeddeds() {
		switch e := constraint.EmbeddedType(i).(type) {
		case *types.Union:
			for k := range e.Len() {
				out = append(out, underlyings(e.Term(k).Type())...)
			}
		default:
			out = append(out, underlyings(e)...)
		}
	}
	return out
}

// callee returns the object that a call names: a function, a method, a builtin or a variable.
func callee(info *types.Info, call *ast.CallExpr) (*ast.Ident, types.Object) {
	fun := ast.Unparen(call.Fun)
	switch indexed := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(indexed.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(indexed.X)
	}
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	}
	if id == nil {
		return nil, nil
	}
	return id, info.Uses[id]
}

// qualified names a package-level object or a method as "path.Name" or "path.Type.Method".
func qualified(o types.Object) string {
	if o == nil || o.Pkg() == nil {
		return ""
	}
	return o.Pkg().Path() + "." + localName(o)
}

func localName(o types.Object) string {
	f, ok := o.(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return o.Name()
	}
	t := f.Signature().Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + o.Name()
	}
	return o.Name()
}

// noteSortedIterators remembers maps.Keys and maps.Values that are the argument of a sort.
// SortedFunc counts: its comparison has to order distinct keys, which no type can prove.
func (j *judge) noteSortedIterators(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return true
	}
	inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
	if !ok {
		return true
	}
	_, outerObject := callee(j.info, call)
	id, innerObject := callee(j.info, inner)
	switch qualified(outerObject) + " " + qualified(innerObject) {
	case "slices.Sorted maps.Keys", "slices.Sorted maps.Values", "slices.SortedFunc maps.Keys":
		j.sorted[id] = true
	}
	return true
}

// use judges one mention of an object, whatever the package was renamed to.
func (j *judge) use(id *ast.Ident) {
	o := j.info.Uses[id]
	if o == nil || o.Pkg() == nil {
		return
	}
	if field, ok := o.(*types.Var); ok && field.IsField() {
		return
	}
	from, name := o.Pkg().Path(), localName(o)
	if allowed, partly := namesAllowed[from]; partly && !j.local(o) {
		typeName, _, _ := strings.Cut(name, ".")
		if !allowed[name] && !(typeName != name && allowed[typeName+".*"]) {
			j.bad(id.Pos(), "%s.%s", from, name)
		}
	}
	if from == "maps" && (name == "Keys" || name == "Values") && !j.sorted[id] {
		j.bad(id.Pos(), "maps.%s that is not the argument of slices.Sorted", name)
	}
}

// local says whether o belongs to a function's scope (a parameter, a type parameter) of a package
// that was imported, which a use cannot name but an instance may mention.
func (j *judge) local(o types.Object) bool {
	_, isFunc := o.(*types.Func)
	return !isFunc && o.Parent() != nil && o.Parent() != o.Pkg().Scope()
}

// call refuses the builtins that print, addresses as numbers, and pointers handed to fmt.
func (j *judge) call(call *ast.CallExpr) {
	if to := j.info.Types[call.Fun]; to.IsType() && len(call.Args) == 1 {
		from := j.info.TypeOf(call.Args[0])
		if isBasic(to.Type, types.Uintptr) && isBasic(from, types.UnsafePointer) {
			j.bad(call.Pos(), "an address as a number")
		}
		return
	}
	_, o := callee(j.info, call)
	if b, ok := o.(*types.Builtin); ok && (b.Name() == "print" || b.Name() == "println") {
		j.bad(call.Pos(), "builtin %s", b.Name())
	}
	if o == nil || o.Pkg() == nil || o.Pkg().Path() != "fmt" {
		return
	}
	for _, arg := range call.Args {
		if printsAddress(j.info.TypeOf(arg)) {
			j.bad(arg.Pos(), "fmt prints an address for %s", j.info.TypeOf(arg))
		}
	}
}

func isBasic(t types.Type, kind types.BasicKind) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == kind
}

// printsAddress says whether fmt shows an address for a value of static type t: a function, or a
// pointer to something that has no text of its own and is no composite.
func printsAddress(t types.Type) bool {
	if hasMethod(t, "Error") || hasMethod(t, "String") || hasMethod(t, "Write") {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer || u.Kind() == types.Uintptr
	case *types.Pointer:
		switch u.Elem().Underlying().(type) {
		case *types.Struct, *types.Slice, *types.Array, *types.Map:
			return false // fmt follows one pointer to these
		}
		return true
	}
	return false
}

func hasMethod(t types.Type, name string) bool {
	o, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	_, ok := o.(*types.Func)
	return ok
}

// expression refuses channels, floats and %p by the type and the constant value of e.
func (j *judge) expression(e ast.Expr) {
	tv, ok := j.info.Types[e]
	if !ok || tv.Type == nil {
		return
	}
	for _, under := range underlyings(tv.Type) {
		switch u := under.(type) {
		case *types.Chan:
			j.bad(e.Pos(), "a channel")
		case *types.Basic:
			if u.Info()&(types.IsFloat|types.IsComplex) != 0 && u.Info()&types.IsUntyped == 0 {
				if !isConstraint(tv) {
					j.bad(e.Pos(), "floating point: %s", types.ExprString(e))
				}
			}
		}
	}
	if tv.Value != nil && tv.Value.Kind() == constant.String {
		text := strings.ReplaceAll(constant.StringVal(tv.Value), "%%", "")
		if formatsPointer.MatchString(text) {
			j.bad(e.Pos(), "%%p in a format")
		}
	}
}

// isConstraint says whether an expression is a constraint such as cmp.Ordered, which admits
// floats without computing with them; an instance with a float is seen where it is made.
func isConstraint(tv types.TypeAndValue) bool {
	_, isInterface := tv.Type.Underlying().(*types.Interface)
	return isInterface
}
