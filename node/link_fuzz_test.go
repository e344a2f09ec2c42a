package node

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
	"stet/core/wire"
)

// FuzzALinkTakesWhateverItsPeerSays asks with each key and version that a controller speaks, or as
// a follower asks a leader, and answers with any bytes: the link tells an answer or its end, and keeps
// no memory.
func FuzzALinkTakesWhateverItsPeerSays(f *testing.F) {
	versions := append(wire.Versions(wire.ControllerListener),
		wire.KeyVersions{Key: wire.KeyFetch, Min: 13, Max: 18, FlexibleFrom: 12}) // a follower's
	for i := range versions {
		f.Add(uint8(i), uint8(0), []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0})
		f.Add(uint8(i), uint8(9), []byte{0, 0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 0xff, 0xff, 0xff})
	}
	f.Fuzz(func(t *testing.T, key, version uint8, answer []byte) {
		v := versions[int(key)%len(versions)]
		s := newLinkStage(t)
		s.open()
		request := binary.BigEndian.AppendUint16(nil, uint16(v.Key))
		request = binary.BigEndian.AppendUint16(request, uint16(v.Min+int16(version)%(v.Max-v.Min+1)))
		request = append(binary.BigEndian.AppendUint32(request, 1), 0xff, 0xff)
		s.tell(linkOp{env.ConnSend, 1, request})
		s.drain()
		if s.arrive(answer) == env.Hangup {
			require.Equal(t, 1, s.writer.closed)
			s.dialed[0].Closed(env.OK)
		}
		s.drain()
		kind := s.last().Kind
		require.True(t, kind == env.EventResponse || kind == env.EventConnClosed, "%v", kind)
		if kind == env.EventConnClosed {
			require.Equal(t, env.EMalformed, s.last().Err)
		}
		require.Zero(t, s.loop.linkMemory.Used())
	})
}
