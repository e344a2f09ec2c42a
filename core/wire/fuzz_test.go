package wire

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"stet/core/env"
)

// addSeeds adds an empty request of every key and version, random ones of each key's last, and a
// few full ones.
func addSeeds(f *testing.F) {
	for _, l := range []Listener{BrokerListener, ControllerListener} {
		for _, v := range Versions(l) {
			for version := v.Min; version <= v.Max; version++ {
				request := newRequest(v.Key)
				request.SetVersion(version)
				f.Add(byte(l), AppendRequest(nil, 1, "seed", request))
			}
			drawn := rapid.Custom(func(t *rapid.T) []byte {
				id := rapid.Int32().Draw(t, "correlation")
				return AppendRequest(nil, id, "seed", drawRequest(t, v.Key, v.Max))
			})
			for i := range 4 {
				f.Add(byte(l), drawn.Example(i))
			}
		}
	}
	name := "t"
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Topics = []kmsg.MetadataRequestTopic{{Topic: &name}, {Topic: &name}}
	for _, version := range []int16{0, 4, 9, 12} {
		metadata.Version = version
		f.Add(byte(0), AppendRequest(nil, 1, "seed", metadata))
		f.Add(byte(0), produceFrame(version+1, 2, oneBatch(10)))
		f.Add(byte(0), fetchFrame(version+6, 2))
	}
	f.Add(byte(0), []byte{0, 18, 0, 99, 0, 0, 0, 1, 0, 0, 0})
}

func FuzzDecode(f *testing.F) {
	addSeeds(f)
	limits := DefaultLimits()
	limits.MaxDecompressedBytes = 1 << 16
	f.Fuzz(func(t *testing.T, listener byte, frame []byte) {
		l := Listener(listener % 2)
		d := NewDecoder(l, limits)
		var request env.Request
		var err error
		// Twice the budget of the form, which walkers count before kmsg reads, and what batches and
		// their codecs may take.
		allowed := uint64(2 * (16*len(frame) + (64 << 10)))
		if h, _, err := ParseHeader(l, frame); err == nil && h.Key == KeyProduce {
			allowed += 64 << 20
		}
		require.Less(t, allocated(func() { err = d.Decode(frame, &request) }), allowed)
		if err != nil {
			var refused *Error
			require.True(t, errors.As(err, &refused))
			require.NotEmpty(t, refused.Error())
			require.Nil(t, request.Body)
			return
		}
		require.NotNil(t, request.Body)
		if body, ok := request.Body.(kmsg.Request); ok {
			again := AppendRequest(nil, request.Correlation, request.ClientID, body)
			require.NoError(t, d.Decode(again, &request))
		}
		d.Recycle(request.Body)
	})
}

func FuzzHeader(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, listener byte, frame []byte) {
		var h Header
		var body []byte
		var err error
		require.Less(t, allocated(func() {
			h, body, err = ParseHeader(Listener(listener%2), frame)
		}), uint64(64<<10), "the header is a view")
		if err != nil {
			require.Nil(t, body)
			return
		}
		require.LessOrEqual(t, len(body)+MinFrameBytes, len(frame))
		v, ok := Lookup(Listener(listener%2), h.Key)
		require.True(t, ok)
		again := appendRequestHeader(nil, h, v.Flexible(h.Version))
		same, rest, err := ParseHeader(Listener(listener%2), append(again, body...))
		require.NoError(t, err)
		require.Equal(t, h, same)
		require.Equal(t, body, rest)
	})
}

func FuzzResponse(f *testing.F) {
	for _, v := range append(Versions(BrokerListener), Versions(ControllerListener)...) {
		f.Add(v.Key, v.Max, AppendResponse(nil, v.Max, 1, 0, NewResponse(v.Key)))
	}
	f.Fuzz(func(t *testing.T, key, version int16, frame []byte) {
		if v, ok := lookupAny(key); !ok || !v.Supports(version) {
			return
		}
		response, err := DecodeResponse(key, version, frame)
		require.Equal(t, err == nil, response != nil)
	})
}
