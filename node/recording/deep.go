package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// The deep codec writes any tree of Go values, unexported fields included, so that job results
// need no codec of their own. Functions are left out. Pointers are followed, so the tree must have
// no cycles; shared values are written once for each place.

// deepTypes names the concrete types that may stand in an interface.
type deepTypes struct {
	byName map[string]reflect.Type
}

// newDeepTypes registers the types of the given values.
func newDeepTypes(prototypes ...any) *deepTypes {
	t := &deepTypes{byName: map[string]reflect.Type{}}
	for _, p := range prototypes {
		t.byName[reflect.TypeOf(p).String()] = reflect.TypeOf(p)
	}
	return t
}

var errorType = reflect.TypeFor[error]()

// appendDeep appends v, which is addressable or freely readable.
func appendDeep(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.Float32, reflect.Float64:
		return binary.AppendUvarint(b, math.Float64bits(v.Float()))
	case reflect.String:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		return append(b, v.String()...)
	case reflect.Slice:
		return appendSlice(b, v)
	case reflect.Array:
		for i := range v.Len() {
			b = appendDeep(b, v.Index(i))
		}
		return b
	case reflect.Map:
		return appendMap(b, v)
	case reflect.Struct:
		for i := range v.NumField() {
			b = appendDeep(b, v.Field(i))
		}
		return b
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0)
		}
		return appendDeep(append(b, 1), v.Elem())
	case reflect.Interface:
		return appendInterface(b, v)
	case reflect.Func:
		return b
	}
	panic(fmt.Sprintf("recording: can not write a %v", v.Type()))
}

func appendSlice(b []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(v.Len())+1)
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return append(b, v.Bytes()...)
	}
	for i := range v.Len() {
		b = appendDeep(b, v.Index(i))
	}
	return b
}

func appendMap(b []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(v.Len())+1)
	pairs := make([]string, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		pairs = append(pairs, string(appendDeep(appendDeep(nil, it.Key()), it.Value())))
	}
	slices.Sort(pairs)
	for _, p := range pairs {
		b = append(b, p...)
	}
	return b
}

// appendInterface writes the concrete type's name and the value. An error that is no code becomes
// its text: no decision looks further into it.
func appendInterface(b []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return appendDeep(b, reflect.ValueOf(""))
	}
	e := v.Elem()
	if e.Type().Implements(errorType) && (e.Kind() == reflect.Pointer || e.Kind() == reflect.Struct) {
		b = appendDeep(b, reflect.ValueOf("error"))
		return appendDeep(b, reflect.ValueOf(readable(e).Interface().(error).Error()))
	}
	b = appendDeep(b, reflect.ValueOf(e.Type().String()))
	return appendDeep(b, e)
}

// readable makes a value that came through an unexported field usable with Interface.
func readable(v reflect.Value) reflect.Value {
	if v.CanInterface() {
		return v
	}
	if v.CanAddr() {
		return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	if v.Kind() == reflect.Pointer {
		return reflect.NewAt(v.Type().Elem(), v.UnsafePointer())
	}
	return reflect.ValueOf(errors.New("unreadable error"))
}

// deepReader reads what appendDeep wrote.
type deepReader struct {
	types *deepTypes
	b     []byte
}

var errCut = errors.New("the recording is cut short")

// read fills v, which is addressable.
func (r *deepReader) read(v reflect.Value) error {
	if !v.CanSet() {
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	switch v.Kind() {
	case reflect.Bool:
		if len(r.b) == 0 {
			return errCut
		}
		v.SetBool(r.b[0] != 0)
		r.b = r.b[1:]
		return nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, size := binary.Varint(r.b)
		v.SetInt(n)
		return r.skip(size)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := r.uvarint()
		v.SetUint(n)
		return err
	case reflect.Float32, reflect.Float64:
		n, err := r.uvarint()
		v.SetFloat(math.Float64frombits(n))
		return err
	case reflect.String:
		n, err := r.uvarint()
		if err != nil || n > uint64(len(r.b)) {
			return errCut
		}
		v.SetString(string(r.b[:n]))
		r.b = r.b[n:]
		return nil
	case reflect.Slice:
		return r.readSlice(v)
	case reflect.Array:
		return r.readEach(v)
	case reflect.Map:
		return r.readMap(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if err := r.read(v.Field(i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Pointer:
		return r.readPointer(v)
	case reflect.Interface:
		return r.readInterface(v)
	case reflect.Func:
		return nil
	}
	return fmt.Errorf("can not read a %v", v.Type())
}

func (r *deepReader) readEach(v reflect.Value) error {
	for i := range v.Len() {
		if err := r.read(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *deepReader) readSlice(v reflect.Value) error {
	n, err := r.uvarint()
	if err != nil || n == 0 {
		return err
	}
	n--
	if v.Type().Elem().Kind() == reflect.Uint8 {
		if n > uint64(len(r.b)) {
			return errCut
		}
		v.SetBytes(append([]byte{}, r.b[:n]...))
		r.b = r.b[n:]
		return nil
	}
	for range n {
		elem := reflect.New(v.Type().Elem()).Elem()
		if err := r.read(elem); err != nil {
			return err
		}
		v.Set(reflect.Append(v, elem))
	}
	if v.IsNil() {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	return nil
}

func (r *deepReader) readMap(v reflect.Value) error {
	n, err := r.uvarint()
	if err != nil || n == 0 {
		return err
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range n - 1 {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if err := errors.Join(r.read(key), r.read(value)); err != nil {
			return err
		}
		v.SetMapIndex(key, value)
	}
	return nil
}

func (r *deepReader) readPointer(v reflect.Value) error {
	set, err := r.uvarint()
	if err != nil || set == 0 {
		return err
	}
	p := reflect.New(v.Type().Elem())
	v.Set(p)
	return r.read(p.Elem())
}

func (r *deepReader) readInterface(v reflect.Value) error {
	var name string
	if err := r.read(reflect.ValueOf(&name).Elem()); err != nil || name == "" {
		return err
	}
	if name == "error" {
		var text string
		err := r.read(reflect.ValueOf(&text).Elem())
		v.Set(reflect.ValueOf(errors.New(text)))
		return err
	}
	t := r.types.byName[name]
	if t == nil {
		return fmt.Errorf("the recording holds a %s, which this build does not know", name)
	}
	elem := reflect.New(t).Elem()
	err := r.read(elem)
	v.Set(elem)
	return err
}

func (r *deepReader) uvarint() (uint64, error) {
	n, size := binary.Uvarint(r.b)
	return n, r.skip(size)
}

func (r *deepReader) skip(n int) error {
	if n <= 0 || n > len(r.b) {
		return errCut
	}
	r.b = r.b[n:]
	return nil
}
