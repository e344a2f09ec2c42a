package digest

import (
	"fmt"
	"reflect"
	"unsafe"
)

// TB is the part of testing.TB that FlipEachField needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// maxElements bounds how many elements of one list or map are flipped: they are all walked by the
// same code.
const maxElements = 16

// FlipEachField changes everything that can be reached from v, one place at a time, and demands
// that the digest moves each time and comes back. v is a non-nil pointer to the state; it is as
// before when the function returns. The result is the number of places. Fields tagged
// `digest:"-"`, functions and channels are left alone; what they hide is the caller's to judge.
func FlipEachField(t TB, v any) int {
	t.Helper()
	root := reflect.ValueOf(v)
	if root.Kind() != reflect.Pointer || root.IsNil() {
		t.Errorf("FlipEachField wants a pointer to the state")
		return 0
	}
	d := NewDigester()
	f := flipper{t: t, want: d.Of(v), seen: map[pointer]bool{}}
	f.digest = func() Sum { return d.Of(v) }
	f.flip(root.Elem(), root.Type().Elem().String())
	return f.places
}

type flipper struct {
	t      TB
	digest func() Sum
	want   Sum
	seen   map[pointer]bool
	places int
}

// settable returns the same place without the guard of unexported fields.
func settable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// try sets the place to another value and back.
func (f *flipper) try(v, other reflect.Value, path string) {
	f.places++
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	v.Set(other)
	if f.digest() == f.want {
		f.t.Errorf("%s: the digest does not see a change", path)
	}
	v.Set(old)
	if f.digest() != f.want {
		f.t.Errorf("%s: the digest does not come back", path)
	}
}

// flip changes v, which is addressable, and everything below.
func (f *flipper) flip(v reflect.Value, path string) {
	v = settable(v)
	other := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Bool:
		other.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		other.SetInt(v.Int() ^ 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Uintptr:
		other.SetUint(v.Uint() ^ 1)
	case reflect.Float32, reflect.Float64:
		other.SetFloat(v.Float()*2 + 1)
	case reflect.Complex64, reflect.Complex128:
		other.SetComplex(v.Complex()*2 + 1)
	case reflect.String:
		other.SetString(v.String() + "~")
	default:
		f.flipComposite(v, path)
		return
	}
	f.try(v, other, path)
}

func (f *flipper) flipComposite(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Array:
		f.flipElements(v, path)
	case reflect.Slice:
		longer := reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1)
		reflect.Copy(longer, v)
		f.try(v, longer, path+" (longer)")
		f.flipElements(v, path)
	case reflect.Map:
		f.flipMap(v, path)
	case reflect.Struct:
		f.flipStruct(v, path)
	case reflect.Pointer:
		f.flipPointer(v, path)
	case reflect.Interface:
		f.flipBoxed(v, path)
	default: // Func, Chan, UnsafePointer
	}
}

func (f *flipper) flipElements(v reflect.Value, path string) {
	for i := range min(v.Len(), maxElements) {
		f.flip(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

func (f *flipper) flipStruct(v reflect.Value, path string) {
	t := v.Type()
	if pointee := atomicPointee(t); pointee != nil {
		place := (*unsafe.Pointer)(unsafe.Pointer(v.FieldByName("v").UnsafeAddr()))
		f.flip(reflect.NewAt(reflect.PointerTo(pointee), unsafe.Pointer(place)).Elem(), path)
		return
	}
	if skippedType(t) {
		return
	}
	for i := range t.NumField() {
		if field := t.Field(i); !skippedField(field) {
			f.flip(v.Field(i), path+"."+field.Name)
		}
	}
}

func (f *flipper) flipPointer(v reflect.Value, path string) {
	if v.IsNil() && !skippedType(v.Type().Elem()) {
		f.try(v, reflect.New(v.Type().Elem()), path)
		return
	}
	if !skippedType(v.Type().Elem()) {
		f.try(v, reflect.Zero(v.Type()), path)
	}
	f.flipPointee(v, path)
}

// flipPointee flips what a pointer leads to, the first time that it is met.
func (f *flipper) flipPointee(v reflect.Value, path string) {
	if v.IsNil() || skippedPointer(v.Type()) {
		return
	}
	p := pointer{v.UnsafePointer(), v.Type()}
	if !f.seen[p] {
		f.seen[p] = true
		f.flip(v.Elem(), path)
	}
}

// flipMap adds the zero key if it is missing, removes each entry, and flips inside the values,
// which are not addressable, by way of a copy.
func (f *flipper) flipMap(v reflect.Value, path string) {
	zero := reflect.Zero(v.Type().Key())
	if v.Type().Key().Kind() != reflect.Interface && !(v.Len() > 0 && v.MapIndex(zero).IsValid()) {
		more := copyMap(v)
		more.SetMapIndex(zero, reflect.Zero(v.Type().Elem()))
		f.try(v, more, path+" (larger)")
	}
	for i, key := range v.MapKeys() {
		if i == maxElements {
			return
		}
		name := fmt.Sprintf("%s[%v]", path, key)
		less := copyMap(v)
		less.SetMapIndex(key, reflect.Value{})
		f.try(v, less, name+" (removed)")
		f.flipInCopy(v.MapIndex(key), name, func(c reflect.Value) { v.SetMapIndex(key, c) })
	}
}

func copyMap(v reflect.Value) reflect.Value {
	c := reflect.MakeMapWithSize(v.Type(), v.Len()+1)
	for iter := v.MapRange(); iter.Next(); {
		c.SetMapIndex(iter.Key(), iter.Value())
	}
	return c
}

func (f *flipper) flipBoxed(v reflect.Value, path string) {
	if v.IsNil() {
		return
	}
	f.try(v, reflect.Zero(v.Type()), path)
	if v.Elem().Kind() == reflect.Pointer { // no copy: the pointee may lead back to this place
		f.flipPointee(v.Elem(), path)
		return
	}
	f.flipInCopy(v.Elem(), path, func(c reflect.Value) { v.Set(c) })
}

// flipInCopy flips inside a copy of old and has store put the copy in old's place each time.
func (f *flipper) flipInCopy(old reflect.Value, path string, store func(reflect.Value)) {
	c := reflect.New(old.Type()).Elem()
	c.Set(old)
	inner := *f
	inner.digest = func() Sum {
		store(c)
		defer store(old)
		return f.digest()
	}
	inner.flip(c, path)
	f.places = inner.places
}
