package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// visitor collects the sites of one function after another.
type visitor struct {
	fset     *token.FileSet
	source   []byte
	path     string
	function string
	same     map[string]int // counts sites that read the same
	// at, if valid, is what has to be executed for the expression under way: a case of a switch is
	// no statement.
	at token.Pos
	// whole is the condition last negated: swapping its own == would be the same once more.
	whole ast.Expr
	out   []site
}

// walk collects the sites below a node.
func (v *visitor) walk(n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			return v.branch(n)
		case *ast.ForStmt:
			if n.Cond != nil {
				v.negate(n.Cond)
			}
		case *ast.SwitchStmt:
			return v.cases(n)
		case *ast.CallExpr:
			return !isAssertion(n) && !isFormat(n)
		case *ast.BinaryExpr:
			v.binary(n)
		case *ast.BasicLit:
			v.literal(n)
		case *ast.ArrayType, *ast.IndexListExpr:
			return false // types
		case ast.Stmt:
			v.statement(n)
		}
		return true
	})
}

// branch walks an if. A canary's condition is none of the code, nor is what it puts back.
func (v *visitor) branch(n *ast.IfStmt) bool {
	canary, putBack := asksCanary(n.Cond)
	if !canary {
		v.negate(n.Cond)
		return true
	}
	if n.Init != nil {
		v.walk(n.Init)
	}
	if !putBack {
		v.walk(n.Body)
	}
	if n.Else != nil {
		v.walk(n.Else)
	}
	return false
}

// cases walks a switch; its cases are evaluated when it is.
func (v *visitor) cases(n *ast.SwitchStmt) bool {
	if n.Init != nil {
		v.walk(n.Init)
	}
	if n.Tag != nil {
		v.walk(n.Tag)
	}
	for _, s := range n.Body.List {
		clause := s.(*ast.CaseClause)
		outer := v.at
		v.at = n.Switch
		for _, e := range clause.List {
			if n.Tag == nil {
				v.negate(e)
			}
			v.walk(e)
		}
		v.at = outer
		for _, s := range clause.Body {
			v.walk(s)
		}
	}
	return false
}

// add notes a site that replaces the bytes of a node.
func (v *visitor) add(f family, from, to token.Pos, mutated string) {
	a, b := v.fset.Position(from), v.fset.Position(to)
	at := a
	if v.at.IsValid() {
		at = v.fset.Position(v.at)
	}
	s := site{
		File: v.path, Function: v.function, Line: a.Line, Family: f,
		Original: string(v.source[a.Offset:b.Offset]), Mutated: mutated,
		from: a.Offset, to: b.Offset, atLine: at.Line, atColumn: at.Column,
	}
	key := s.id()
	s.Nth = v.same[key]
	v.same[key]++
	v.out = append(v.out, s)
}

func (v *visitor) text(n ast.Node) string {
	return string(v.source[v.fset.Position(n.Pos()).Offset:v.fset.Position(n.End()).Offset])
}

func (v *visitor) negate(cond ast.Expr) {
	v.whole = cond
	v.add(negate, cond.Pos(), cond.End(), "!("+v.text(cond)+")")
}

var boundaries = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
}

var operators = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.REM: token.MUL, token.SHL: token.SHR, token.SHR: token.SHL,
	token.AND: token.OR, token.OR: token.AND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

var opposites = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

// binary notes the operator of an expression. The original is the whole expression, so that the
// report can be read.
func (v *visitor) binary(n *ast.BinaryExpr) {
	if v.whole == ast.Expr(n) && (n.Op == token.EQL || n.Op == token.NEQ) {
		return
	}
	for f, table := range map[family]map[token.Token]token.Token{
		boundary: boundaries, arithmetic: operators, negate: opposites,
	} {
		if other, ok := table[n.Op]; ok {
			v.operator(f, n, n.OpPos, n.Op, other)
		}
	}
}

// operator notes a node with another operator.
func (v *visitor) operator(f family, n ast.Node, at token.Pos, op, other token.Token) {
	text, offset := v.text(n), int(at-n.Pos())
	v.add(f, n.Pos(), n.End(), text[:offset]+other.String()+text[offset+len(op.String()):])
}

// literal notes an integer, one more and, if it stays at least 0, one less.
func (v *visitor) literal(n *ast.BasicLit) {
	value, err := strconv.ParseInt(n.Value, 0, 64)
	if n.Kind != token.INT || err != nil {
		return
	}
	v.add(constant, n.Pos(), n.End(), fmt.Sprint(value+1))
	if value > 0 {
		v.add(constant, n.Pos(), n.End(), fmt.Sprint(value-1))
	}
}

// statement notes one that can be left out, and those with an operator of their own.
func (v *visitor) statement(n ast.Stmt) {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		v.operator(arithmetic, n, n.TokPos, n.Tok, operators[n.Tok])
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			return
		}
		if other, ok := operators[n.Tok]; ok {
			v.operator(arithmetic, n, n.TokPos, n.Tok, other)
		}
	case *ast.ExprStmt:
		if c, ok := n.X.(*ast.CallExpr); ok && isAssertion(c) {
			return
		}
	case *ast.BranchStmt, *ast.DeferStmt:
	case *ast.ReturnStmt:
		if len(n.Results) > 0 {
			return // nothing to return would not compile, as a rule
		}
	default:
		return
	}
	v.add(drop, n.Pos(), n.End(), "")
}

// isAssertion says whether a call is one of package invariant or a panic.
func isAssertion(c *ast.CallExpr) bool { return of(c, "invariant") || calls(c, "panic") }

// isFormat says whether a call only makes text.
func isFormat(c *ast.CallExpr) bool { return of(c, "fmt") }

func of(c *ast.CallExpr, pkg string) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	return ok && calls(&ast.CallExpr{Fun: s.X}, pkg)
}

func calls(c *ast.CallExpr, name string) bool {
	id, ok := c.Fun.(*ast.Ident)
	return ok && id.Name == name
}

// asksCanary says whether a condition asks for a canary, and whether it holds only with one.
func asksCanary(cond ast.Expr) (asks, putBack bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.NOT {
			if inner, _ := asksCanary(u.X); inner {
				asks = true
				return false
			}
		}
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Canary") {
			asks, putBack = true, true
		}
		return true
	})
	return asks, putBack
}
