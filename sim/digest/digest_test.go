package digest_test

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/sim/digest"
)

// outside is the world's side of something.
type outside struct{ secret int }

func (*outside) Undigested() {}

type leaf struct {
	a int
	b string
}

type state struct {
	number   int32
	flag     bool
	text     string
	raw      []byte
	list     []leaf
	array    [3]uint16
	table    map[string]*leaf
	counts   map[leaf]int
	self     *state
	none     *leaf
	box      any
	boxed    fmt.Stringer
	mu       sync.Mutex
	count    atomic.Int64
	current  atomic.Pointer[leaf]
	ratio    float64
	call     func()
	scratch  []byte `digest:"-"`
	pool     sync.Pool
	world    *outside
	any      any
	embedded struct{ deep [2]leaf }
}

func newState() *state {
	s := &state{
		number: 7, flag: true, array: [3]uint16{1, 2, 3}, none: nil, ratio: 0.5, text: "t", raw: []byte("raw"), list: []leaf{{1, "x"}, {2, "y"}},
		table:  map[string]*leaf{"one": {1, "1"}, "two": {2, "2"}, "three": {3, "3"}},
		counts: map[leaf]int{{1, "k"}: 1, {2, "k"}: 2},
		box:    leaf{5, "boxed"}, boxed: bytes.NewBufferString("b"), call: func() {},
	}
	s.self = s
	s.mu.Lock()
	s.count.Store(3)
	s.mu.Unlock()
	s.pool.Put(&leaf{})
	s.embedded.deep[1].a = 4
	s.world, s.any = &outside{1}, &outside{2}
	s.current.Store(&leaf{9, "atomic"})
	return s
}

func TestEveryReachableFieldMovesTheDigest(t *testing.T) {
	places := digest.FlipEachField(t, newState())
	require.Greater(t, places, 40)
}

// recorder is a TB that counts complaints.
type recorder struct{ complaints []string }

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.complaints = append(r.complaints, fmt.Sprintf(format, args...))
}

func TestFlipEachFieldRestoresTheState(t *testing.T) {
	s := newState()
	before := digest.Of(s)
	digest.FlipEachField(&recorder{}, s)
	require.Equal(t, before, digest.Of(s))
}

func TestFlipEachFieldRefusesWhatIsNoPointer(t *testing.T) {
	r := &recorder{}
	require.Zero(t, digest.FlipEachField(r, leaf{}))
	require.Len(t, r.complaints, 1)
}

func TestDigestIsTheSameForEqualStatesAtOtherAddresses(t *testing.T) {
	want := digest.Of(newState())
	for range 50 { // map order differs each time
		require.Equal(t, want, digest.Of(newState()))
	}
}

func TestDigestIgnoresCapacityAndNilVersusEmpty(t *testing.T) {
	a := struct {
		s []int
		m map[int]int
	}{nil, nil}
	b := a
	b.s, b.m = make([]int, 0, 10), map[int]int{}
	require.Equal(t, digest.Of(a), digest.Of(b))
}

func TestDigestIgnoresTaggedFieldsAndFunctions(t *testing.T) {
	s := newState()
	want := digest.Of(s)
	s.scratch, s.call = []byte("other"), nil
	s.world.secret, s.any.(*outside).secret = 7, 8
	require.Equal(t, want, digest.Of(s))
}

func TestDigestSeesAliasing(t *testing.T) {
	type pair struct{ a, b *leaf }
	l := &leaf{1, "x"}
	require.NotEqual(t, digest.Of(pair{l, l}), digest.Of(pair{l, &leaf{1, "x"}}))
}

func TestDumpDigestsAsOf(t *testing.T) {
	s := newState()
	var text bytes.Buffer
	require.Equal(t, digest.Of(s), digest.Dump(&text, s))
	require.Contains(t, text.String(), ".list[1].b = \"y\"")
	require.Equal(t, digest.Of(s), digest.Dump(io.Discard, s))
}

func TestHashSeparatesLengthsOrderAndZeros(t *testing.T) {
	sums := map[digest.Sum]string{}
	add := func(name string, feed func(h *digest.Hash)) {
		var h digest.Hash
		feed(&h)
		require.NotContains(t, sums, h.Sum(), "%s collides", name)
		sums[h.Sum()] = name
	}
	add("nothing", func(h *digest.Hash) {})
	for i := range 20 {
		add("zeros", func(h *digest.Hash) { h.Bytes(make([]byte, i)) })
	}
	add("ab c", func(h *digest.Hash) { h.Text("ab"); h.Text("c") })
	add("a bc", func(h *digest.Hash) { h.Text("a"); h.Text("bc") })
	add("1 2", func(h *digest.Hash) { h.Word(1); h.Word(2) })
	add("2 1", func(h *digest.Hash) { h.Word(2); h.Word(1) })
}

func TestHashTextEqualsBytes(t *testing.T) {
	for n := range 40 {
		p := bytes.Repeat([]byte("abcdefghi"), 5)[:n]
		var a, b digest.Hash
		a.Bytes(p)
		b.Text(string(p))
		require.Equal(t, a.Sum(), b.Sum())
	}
}

// The value is frozen, so that another architecture or compiler that computes another one is
// noticed.
func TestHashIsTheSameEverywhere(t *testing.T) {
	var h digest.Hash
	for i := range uint64(1000) {
		h.Word(i)
	}
	h.Text("the same on every machine")
	require.Equal(t, "b206eddaa10ecdd9155d76a3a0acfadb", h.Sum().String())
}

func BenchmarkHash4KiB(b *testing.B) {
	page := make([]byte, 4096)
	b.SetBytes(4096)
	var h digest.Hash
	for b.Loop() {
		h.Bytes(page)
	}
}
