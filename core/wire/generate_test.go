package wire

import (
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// fill sets every exported field of a kmsg message to something random.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		fillStruct(t, v)
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(t, "length")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(rapid.StringN(0, 6, 200).Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Uint8, reflect.Uint16:
		v.SetUint(uint64(rapid.Uint8().Draw(t, "number")))
	default:
		bits := v.Type().Bits()
		v.SetInt(rapid.Int64().Draw(t, "number") >> (64 - bits))
	}
}

func fillStruct(t *rapid.T, v reflect.Value) {
	if tags, ok := v.Addr().Interface().(*kmsg.Tags); ok {
		for range rapid.IntRange(0, 2).Draw(t, "tags") {
			key := rapid.Uint32Range(100, 1<<20).Draw(t, "tag")
			tags.Set(key, rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "value"))
		}
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).Name != "Version" {
			fill(t, v.Field(i))
		}
	}
}

// drawRequest makes a random request of a key and version.
func drawRequest(t *rapid.T, key, version int16) kmsg.Request {
	request := newRequest(key)
	fill(t, reflect.ValueOf(request).Elem())
	request.SetVersion(version)
	return request
}

// drawResponse makes a random response of a key and version.
func drawResponse(t *rapid.T, key, version int16) kmsg.Response {
	response := NewResponse(key)
	fill(t, reflect.ValueOf(response).Elem())
	response.SetVersion(version)
	return response
}
