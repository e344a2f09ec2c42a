package digest

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// maxDepth bounds the walk; a value that nests deeper holds a cycle that is no pointer.
const maxDepth = 1000

// Of returns the digest of the state that v leads to. Pointers that meet again are numbered in
// the order of the walk, so aliasing counts and addresses do not. Nil and empty slices are equal,
// and so are nil and empty maps.
func Of(v any) Sum { return NewDigester().Of(v) }

// Digester computes digests and remembers what it has learnt about types. It is used by one thread
// at a time.
type Digester struct {
	plans map[reflect.Type]*plan
	seen  map[pointer]uint64
}

// NewDigester returns a digester that knows no types yet.
func NewDigester() *Digester {
	return &Digester{plans: map[reflect.Type]*plan{}, seen: map[pointer]uint64{}}
}

// Of is the package's Of.
func (d *Digester) Of(v any) Sum {
	clear(d.seen)
	w := walker{digester: d, seen: d.seen}
	w.value(reflect.ValueOf(v), 0)
	return w.hash.Sum()
}

// Dump writes what Of walks, one line a leaf, so that two states that should be equal can be
// compared with diff. It returns the digest.
func Dump(out io.Writer, v any) Sum {
	w := walker{digester: NewDigester(), seen: map[pointer]uint64{}, out: out}
	w.value(reflect.ValueOf(v), 0)
	return w.hash.Sum()
}

// plan says how values of one struct or pointer type are walked.
type plan struct {
	skip    bool         // of a pointer: it is Undigested; of a struct: it is a pool
	pointee reflect.Type // of a struct: it is an atomic.Pointer to this
	fields  []int        // of a struct
	names   []string
}

func (d *Digester) plan(t reflect.Type) *plan {
	p := d.plans[t]
	if p == nil {
		p = makePlan(t)
		d.plans[t] = p
	}
	return p
}

func skippedPointer(t reflect.Type) bool {
	return t.Implements(undigested) || skippedType(t.Elem())
}

func makePlan(t reflect.Type) *plan {
	if t.Kind() == reflect.Pointer {
		return &plan{skip: skippedPointer(t)}
	}
	p := &plan{skip: skippedType(t), pointee: atomicPointee(t)}
	for i := range t.NumField() {
		if f := t.Field(i); !skippedField(f) {
			p.fields, p.names = append(p.fields, i), append(p.names, f.Name)
		}
	}
	return p
}

// Undigested is implemented by pointer types that a state may hold and that are no part of it: the
// world's side of a file, a connection, a host.
type Undigested interface{ Undigested() }

var undigested = reflect.TypeFor[Undigested]()

// pointer is an address together with what it is seen as: a struct and its first field share one.
type pointer struct {
	addr unsafe.Pointer
	typ  reflect.Type
}

type walker struct {
	digester *Digester
	hash     Hash
	seen     map[pointer]uint64
	out      io.Writer // nil unless dumping
	path     []string  // only while dumping
}

func (w *walker) value(v reflect.Value, depth int) {
	if depth > maxDepth {
		panic("digest: the value nests too deep")
	}
	w.hash.Word(uint64(v.Kind()))
	switch v.Kind() {
	case reflect.Invalid:
	case reflect.Bool:
		w.bool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Uintptr:
		w.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		w.number(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		w.number(math.Float64bits(real(v.Complex())))
		w.number(math.Float64bits(imag(v.Complex())))
	case reflect.String:
		w.text(v.String())
	case reflect.Slice, reflect.Array:
		w.list(v, depth)
	case reflect.Map:
		w.mapping(v, depth)
	case reflect.Struct:
		w.structure(v, depth)
	case reflect.Pointer:
		w.pointer(v, depth)
	case reflect.Interface:
		w.boxed(v, depth)
	default: // Func, Chan, UnsafePointer: no state that two runs could share
	}
}

func (w *walker) bool(b bool) {
	if b {
		w.number(1)
	} else {
		w.number(0)
	}
}

func (w *walker) number(x uint64) {
	w.hash.Word(x)
	if w.out != nil {
		fmt.Fprintf(w.out, "%s = %d\n", strings.Join(w.path, ""), int64(x))
	}
}

func (w *walker) text(s string) {
	w.hash.Text(s)
	if w.out != nil {
		fmt.Fprintf(w.out, "%s = %q\n", strings.Join(w.path, ""), s)
	}
}

// enter and leave keep the path of a dump.
func (w *walker) enter(format string, args ...any) {
	if w.out != nil {
		w.path = append(w.path, fmt.Sprintf(format, args...))
	}
}

func (w *walker) leave() {
	if w.out != nil {
		w.path = w.path[:len(w.path)-1]
	}
}

func (w *walker) list(v reflect.Value, depth int) {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		w.hash.Bytes(v.Bytes())
		if w.out != nil {
			fmt.Fprintf(w.out, "%s = %x\n", strings.Join(w.path, ""), v.Bytes())
		}
		return
	}
	w.number(uint64(v.Len()))
	for i := range v.Len() {
		if w.out != nil {
			w.enter("[%d]", i)
		}
		w.value(v.Index(i), depth+1)
		w.leave()
	}
}

// mapping walks the entries in the order of their keys' digests, which is as good as any order.
func (w *walker) mapping(v reflect.Value, depth int) {
	type entry struct {
		order      Sum
		key, value reflect.Value
	}
	entries := make([]entry, 0, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		key := walker{digester: w.digester, seen: map[pointer]uint64{}}
		k := iter.Key()
		key.value(k, depth+1)
		entries = append(entries, entry{key.hash.Sum(), k, iter.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.order[:], b.order[:]) })
	w.number(uint64(len(entries)))
	for _, e := range entries {
		if w.out != nil {
			w.enter("[%v]", e.key)
		}
		w.value(e.key, depth+1)
		w.value(e.value, depth+1)
		w.leave()
	}
}

func (w *walker) structure(v reflect.Value, depth int) {
	p := w.digester.plan(v.Type())
	if p.pointee != nil {
		w.atomicPointer(v, p.pointee, depth)
		return
	}
	if p.skip {
		return
	}
	for i, field := range p.fields {
		if w.out != nil {
			w.enter(".%s", p.names[i])
		}
		w.value(v.Field(field), depth+1)
		w.leave()
	}
}

// skippedField says whether a field is no part of the state.
func skippedField(f reflect.StructField) bool {
	return f.Name == "_" || f.Tag.Get("digest") == "-"
}

// skippedType says whether values of a type are no state: pools, whose content may differ between
// equal runs, and descriptions of types, which are shared, lazily made, and in part read-only.
func skippedType(t reflect.Type) bool {
	switch t.PkgPath() {
	case "sync":
		return t.Name() == "Pool"
	case "reflect", "internal/abi", "google.golang.org/protobuf/internal/impl":
		return true
	}
	return false
}

// atomicPointee returns T for the type atomic.Pointer[T], which hides its target from reflection.
func atomicPointee(t reflect.Type) reflect.Type {
	if t.PkgPath() != "sync/atomic" || !strings.HasPrefix(t.Name(), "Pointer[") {
		return nil
	}
	return t.Field(0).Type.Elem().Elem() // _ [0]*T
}

func (w *walker) atomicPointer(v reflect.Value, pointee reflect.Type, depth int) {
	addr := v.FieldByName("v").UnsafePointer()
	w.pointer(reflect.NewAt(pointee, addr), depth)
}

func (w *walker) pointer(v reflect.Value, depth int) {
	if v.IsNil() {
		w.number(0)
		return
	}
	if w.digester.plan(v.Type()).skip {
		w.hash.Word(3)
		return
	}
	if v.Type().Elem().Size() > 0 {
		p := pointer{v.UnsafePointer(), v.Type()}
		if number, met := w.seen[p]; met {
			w.hash.Word(2)
			w.number(number)
			return
		}
		w.seen[p] = uint64(len(w.seen))
	}
	w.hash.Word(1)
	w.value(v.Elem(), depth+1)
}

func (w *walker) boxed(v reflect.Value, depth int) {
	if v.IsNil() {
		w.number(0)
		return
	}
	w.hash.Text(v.Elem().Type().String())
	w.value(v.Elem(), depth+1)
}
