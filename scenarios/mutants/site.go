package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// family is a kind of slip.
type family string

const (
	negate     family = "negate"     // a condition
	boundary   family = "boundary"   // < for <= and so on
	constant   family = "constant"   // one more or one less
	arithmetic family = "arithmetic" // the wrong operator
	drop       family = "drop"       // a statement
)

var families = []family{negate, boundary, constant, arithmetic, drop}

// site is a place in a source file and one slip there.
type site struct {
	File     string `json:"file"` // path in the module
	Function string `json:"function"`
	Line     int    `json:"line"`
	Family   family `json:"family"`
	Original string `json:"original"`
	Mutated  string `json:"mutated"`
	// Nth counts the sites of a function that read the same.
	Nth int `json:"nth,omitempty"`

	from, to int // bytes of the file that Mutated takes the place of
	// line and column of what has to be executed for the slip to matter
	atLine, atColumn int
}

// id names a mutant by what was changed in which function: it survives edits elsewhere in the file.
func (s *site) id() string {
	text := fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%d", s.File, s.Function, s.Original, s.Mutated, s.Nth)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// String is the site as one line for people.
func (s *site) String() string {
	return fmt.Sprintf("%s:%d %s: %s -> %s", s.File, s.Line, s.Function,
		oneLine(s.Original), oneLine(s.Mutated))
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:57]) + "..."
	}
	return text
}

// apply returns the source with the slip in it.
func (s *site) apply(source []byte) []byte {
	return slices.Concat(source[:s.from], []byte(s.Mutated), source[s.to:])
}

// sites returns every site in the function bodies of a file, in the order of the text; the path is
// that in the module. Generated files have none.
func sites(path string, source []byte) ([]site, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	v := visitor{fset: fset, source: source, path: path, same: map[string]int{}}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && !isText(f) {
			v.function = functionName(f)
			v.walk(f.Body)
		}
	}
	slices.SortStableFunc(v.out, func(a, b site) int { return a.from - b.from })
	return v.out, nil
}

// isText says whether a function makes text for people, which nothing decides by.
func isText(f *ast.FuncDecl) bool {
	return f.Recv != nil && (f.Name.Name == "String" || f.Name.Name == "Error")
}

// functionName is the name of a function or Type.method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}
