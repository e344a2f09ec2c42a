package core

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// variables proves that package variables are constants in all but name: they are declared with a
// value, never assigned, never have their address taken, and whatever they refer to does not leak
// to where it could be written. Errors may be exported; other variables may not, because code
// outside of core could write them.
func (j *judge) variables() {
	if j.path == corePath+"/invariant" {
		return // marks and canary switches, which no decision reads
	}
	for _, f := range j.files {
		(&variableWalk{judge: j}).walk(f)
	}
}

// variableWalk visits a file and knows the path from the root to the node at hand.
type variableWalk struct {
	*judge
	stack []ast.Node
}

func (w *variableWalk) walk(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			w.stack = w.stack[:len(w.stack)-1]
			return true
		}
		w.stack = append(w.stack, n)
		if id, ok := n.(*ast.Ident); ok {
			w.declaration(id)
			w.mention(id)
		}
		return true
	})
}

// declaration refuses exported variables other than errors.
func (w *variableWalk) declaration(id *ast.Ident) {
	v, ok := w.info.Defs[id].(*types.Var)
	if ok && isPackageVariable(v) && v.Exported() && !isError(v.Type()) {
		w.bad(id.Pos(), "exported variable %s; export a function that returns a copy", id.Name)
	}
}

// mention judges one use of a package variable of core, of this package or another.
func (w *variableWalk) mention(id *ast.Ident) {
	v, ok := w.info.Uses[id].(*types.Var)
	if !ok || !isPackageVariable(v) || !strings.HasPrefix(v.Pkg().Path(), corePath) {
		return
	}
	if why := w.written(id, v); why != "" {
		w.bad(id.Pos(), "package variable %s %s", v.Name(), why)
	}
}

func isPackageVariable(v *types.Var) bool {
	return v.Pkg() != nil && !v.IsField() && v.Parent() == v.Pkg().Scope()
}

func isError(t types.Type) bool {
	e := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	return types.Implements(t, e)
}

// written climbs from a mention of v as long as the expression still denotes v, a part of it, or
// something that it refers to. It returns what writes it, or how it escapes; "" is a mere read.
func (w *variableWalk) written(id *ast.Ident, v *types.Var) string {
	var at ast.Expr = id
	typ := v.Type()
	for i := len(w.stack) - 2; i >= 0; i-- {
		switch parent := w.stack[i].(type) {
		case *ast.ParenExpr:
			at = parent
		case *ast.SelectorExpr:
			if parent.X != at { // at is the name in pkg.name
				at = parent
				continue
			}
			selection := w.info.Selections[parent]
			if selection != nil && selection.Kind() != types.FieldVal {
				return w.methodCall(selection, typ)
			}
			at, typ = parent, w.info.TypeOf(parent)
		case *ast.IndexExpr:
			if parent.X != at {
				return "" // an index is read
			}
			if _, instance := w.info.TypeOf(parent.X).(*types.Signature); instance {
				return ""
			}
			at, typ = parent, w.info.TypeOf(parent)
		case *ast.SliceExpr:
			if parent.X != at || isBasic(typ, types.String) {
				return ""
			}
			at, typ = parent, w.info.TypeOf(parent)
		case *ast.StarExpr:
			at, typ = parent, w.info.TypeOf(parent)
		default:
			return w.use(parent, at, typ)
		}
	}
	return ""
}

// methodCall allows methods that take the receiver by value and cannot reach shared memory
// through it, and any method of an error.
func (w *variableWalk) methodCall(selection *types.Selection, typ types.Type) string {
	method, ok := selection.Obj().(*types.Func)
	if !ok || isError(typ) {
		return ""
	}
	receiver := method.Signature().Recv().Type()
	if _, pointer := receiver.(*types.Pointer); pointer || refers(receiver, nil) {
		return "has method " + method.Name() + " called, which could write it"
	}
	return ""
}

// use judges the statement or expression in which v, or a part of it, stands as a whole.
func (w *variableWalk) use(parent ast.Node, at ast.Expr, typ types.Type) string {
	switch p := parent.(type) {
	case *ast.AssignStmt:
		for _, left := range p.Lhs {
			if left == at {
				return "is assigned"
			}
		}
	case *ast.IncDecStmt:
		return "is assigned"
	case *ast.UnaryExpr:
		if p.Op == token.AND {
			return "has its address taken"
		}
		return ""
	case *ast.BinaryExpr, *ast.SwitchStmt, *ast.CaseClause, *ast.IfStmt, *ast.TypeAssertExpr:
		if _, asserted := parent.(*ast.TypeAssertExpr); !asserted || isError(typ) {
			return ""
		}
	case *ast.RangeStmt:
		if p.Key == at || p.Value == at {
			return "is assigned"
		}
		if p.X == at {
			return w.rangeLeak(p, typ)
		}
	case *ast.CallExpr:
		if p.Fun == at || w.harmless(p, at) {
			return ""
		}
	}
	if refers(typ, nil) && !isError(typ) {
		return "refers to memory that leaks here and could be written"
	}
	return ""
}

// rangeLeak allows ranging unless the values themselves refer to memory of the table.
func (w *variableWalk) rangeLeak(p *ast.RangeStmt, typ types.Type) string {
	if p.Value == nil {
		return ""
	}
	if id, ok := p.Value.(*ast.Ident); ok && id.Name == "_" {
		return ""
	}
	if t := w.info.TypeOf(p.Value); t != nil && refers(t, nil) && !isError(t) {
		return "holds references that a range hands out and that could be written"
	}
	return ""
}

// harmless lists calls that only read the memory that an argument refers to.
func (w *variableWalk) harmless(call *ast.CallExpr, at ast.Expr) bool {
	_, o := callee(w.info, call)
	if b, ok := o.(*types.Builtin); ok {
		switch b.Name() {
		case "len", "cap", "min", "max":
			return true
		case "append", "copy":
			return len(call.Args) > 0 && call.Args[0] != at && !refersWithin(w.info.TypeOf(at))
		}
		return false
	}
	if o == nil || o.Pkg() == nil {
		return false
	}
	if o.Pkg().Path() == "slices" {
		switch o.Name() {
		case "BinarySearch", "BinarySearchFunc", "Contains", "ContainsFunc", "Equal", "Index",
			"IndexFunc", "Max", "Min", "IsSorted":
			return true
		case "Clone":
			return !refersWithin(w.info.TypeOf(at))
		}
		return false
	}
	switch o.Pkg().Path() {
	case "bytes", "cmp", "errors", "fmt", "hash/crc32", "strings", "encoding/binary":
		return true
	}
	return false
}

// refersWithin says whether the elements of a slice or map refer to further memory.
func refersWithin(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return refers(u.Elem(), nil)
	case *types.Map:
		return refers(u.Elem(), nil)
	}
	return true
}

// refers says whether a copy of a value of type t shares memory that could be written through it.
// Strings and functions do not.
func refers(t types.Type, seen []types.Type) bool {
	for _, s := range seen {
		if types.Identical(s, t) {
			return false
		}
	}
	seen = append(seen, t)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Signature:
		return false
	case *types.Array:
		return refers(u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if refers(u.Field(i).Type(), seen) {
				return true
			}
		}
		return false
	}
	return true
}
