package recording

import (
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
)

// sample has every shape that the codec knows.
type sample struct {
	Flag    bool
	small   int8 // unexported fields are written, too
	Large   uint64
	Real    float64
	Text    string
	Bytes   []byte
	Nested  []inner
	Fixed   [2]int32
	ByName  map[string][]inner
	Ref     *inner
	Any     any
	failure error
}

type inner struct {
	name  string
	Codes map[int16]env.Errno
}

func drawInner(t *rapid.T) inner {
	in := inner{name: rapid.String().Draw(t, "name")}
	if rapid.Bool().Draw(t, "codes") {
		in.Codes = map[int16]env.Errno{}
		for _, k := range rapid.SliceOfN(rapid.Int16(), 0, 3).Draw(t, "keys") {
			in.Codes[k] = env.EIO
		}
	}
	return in
}

// drawInners tells nil and empty apart.
func drawInners(t *rapid.T) []inner {
	n := rapid.IntRange(-1, 3).Draw(t, "n")
	if n < 0 {
		return nil
	}
	out := make([]inner, n)
	for i := range out {
		out[i] = drawInner(t)
	}
	return out
}

func drawSample(t *rapid.T) *sample {
	s := &sample{
		Flag: rapid.Bool().Draw(t, "flag"), small: rapid.Int8().Draw(t, "small"),
		Large: rapid.Uint64().Draw(t, "large"), Real: rapid.Float64().Draw(t, "real"),
		Text: rapid.String().Draw(t, "text"), Nested: drawInners(t),
		Bytes: rapid.SampledFrom([][]byte{nil, {}, {1, 2}}).Draw(t, "bytes"),
		Fixed: [2]int32{rapid.Int32().Draw(t, "fixed"), -1},
	}
	if rapid.Bool().Draw(t, "map") {
		s.ByName = map[string][]inner{}
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			s.ByName[rapid.String().Draw(t, "key")] = drawInners(t)
		}
	}
	if rapid.Bool().Draw(t, "ref") {
		in := drawInner(t)
		s.Ref = &in
	}
	s.Any = rapid.SampledFrom([]any{nil, env.EIO, inner{name: "x"}, &inner{name: "y"}}).Draw(t, "any")
	s.failure = rapid.SampledFrom([]error{nil, env.ENOSPC, errors.New("why")}).Draw(t, "failure")
	return s
}

func sampleTypes() *deepTypes { return newDeepTypes(env.OK, inner{}, &inner{}) }

func encode(s *sample) []byte { return appendDeep(nil, reflect.ValueOf(s).Elem()) }

func TestDeepCodecGivesBackWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, out := drawSample(t), &sample{}
		r := deepReader{types: sampleTypes(), b: encode(in)}
		require.NoError(t, r.read(reflect.ValueOf(out).Elem()))
		require.Empty(t, r.b)
		require.Equal(t, in, out)
		require.Equal(t, encode(in), encode(out), "the same value has the same bytes")
	})
}

func TestDeepCodecRefusesWhatIsCutShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := encode(drawSample(t))
		n := rapid.IntRange(0, len(b)-1).Draw(t, "n")
		r := deepReader{types: sampleTypes(), b: b[:n]}
		require.Error(t, r.read(reflect.ValueOf(&sample{}).Elem()))
	})
}

func TestDeepCodecSurvivesAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		r := deepReader{types: sampleTypes(), b: b}
		r.read(reflect.ValueOf(&sample{}).Elem())
	})
}

func TestDeepCodecNamesATypeItDoesNotKnow(t *testing.T) {
	r := deepReader{types: newDeepTypes(), b: encode(&sample{Any: inner{}})}
	err := r.read(reflect.ValueOf(&sample{}).Elem())
	require.ErrorContains(t, err, "recording.inner")
}
