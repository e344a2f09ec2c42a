package wire

import "encoding/binary"

const (
	// LengthBytes is the size of the prefix of a frame: the size of the rest, big-endian, signed.
	LengthBytes = 4
	// MinFrameBytes is the size of the shortest request: key, version, correlation id and client
	// id length.
	MinFrameBytes = 10
	// DefaultMaxFrameBytes is the default of socket.request.max.bytes: 100 MiB.
	DefaultMaxFrameBytes = 100 << 20
)

// FrameSize reads a frame's length prefix, of which at least LengthBytes must be there. The size
// comes from the peer: it may be negative or absurd.
func FrameSize(prefix []byte) int32 { return int32(binary.BigEndian.Uint32(prefix)) }

// AppendFrameSize appends the length prefix of a frame of size bytes.
func AppendFrameSize(dst []byte, size int32) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(size))
}
