package quorum

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A log file is a header, the base, and what was appended since:
//
//	 0  magic       8 bytes  "STETRAFT"
//	 8  version     uint32   2
//	12  headerSize  uint32   bytes of the header, crc included
//	16  generation  uint64   also in the file's name
//	24  voter       uint64   the raft id of this directory
//	32  index, term uint64×2 of the snapshot that the log follows
//	48  baseEnd     uint64   where the base ends in this file
//	56  members              four lists of uint64, each with a uint32 count; autoLeave uint8
//	    crc         uint32   CRC-32C of the header so far
//
// The base is what the log consisted of when the file was begun: a hard state and every entry since
// the snapshot. A file whose base is not whole was never in force. Base and appendix are frames:
//
//	 0  length      uint32   bytes of the body
//	 4  crc         uint32   CRC-32C of generation, offset of the frame, length and body
//	 8  type        uint8    frameEntry, frameHardState
//	 9  kind        uint8    EntryKind; 0
//	10  zero        uint16
//	12  durable     uint64   offset in this file below which all was durable when this was written
//	20  term        uint64   of the entry; current term
//	28  index       uint64   of the entry; commit
//	36  data                 of the entry; vote uint64
//
// Integers are little endian. A crc covers the frame's place, so that a frame that was misdirected,
// or belonged to another file, is not taken for one of this.
//
// The field durable is what tells a torn tail from corruption: see recover.go.
const (
	formatVersion = 2
	logMagic      = "STETRAFT"
	headerFixed   = 56
	frameHead     = 8
	frameFixed    = 36 // head and the fixed part of the body

	frameEntry     = 1
	frameHardState = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is the head of a log file.
type header struct {
	generation uint64
	voter      uint64
	start      Position // the entry before the first
	members    ConfState
	baseEnd    int64
	size       int64
}

// headerSize returns the bytes that a header with these members takes.
func headerSize(c *ConfState) int64 {
	ids := len(c.Voters) + len(c.Learners) + len(c.VotersOutgoing) + len(c.LearnersNext)
	return int64(headerFixed + 4*4 + 8*ids + 1 + 4)
}

func appendHeader(dst []byte, h *header) []byte {
	start := len(dst)
	dst = append(dst, logMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, formatVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(headerSize(&h.members)))
	dst = binary.LittleEndian.AppendUint64(dst, h.generation)
	dst = binary.LittleEndian.AppendUint64(dst, h.voter)
	dst = binary.LittleEndian.AppendUint64(dst, h.start.Index)
	dst = binary.LittleEndian.AppendUint64(dst, h.start.Term)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.baseEnd))
	dst = appendMembers(dst, &h.members)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func appendMembers(dst []byte, c *ConfState) []byte {
	for _, ids := range [][]uint64{c.Voters, c.Learners, c.VotersOutgoing, c.LearnersNext} {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(ids)))
		for _, id := range ids {
			dst = binary.LittleEndian.AppendUint64(dst, id)
		}
	}
	if c.AutoLeave {
		return append(dst, 1)
	}
	return append(dst, 0)
}

var errHeader = errors.New("malformed header")

// versionError says that a file is whole, as far as can be told, but of another version.
type versionError struct {
	what    string
	version uint32
}

func (e *versionError) Error() string {
	age := "an older"
	if e.version > formatVersion {
		age = "a newer"
	}
	return fmt.Sprintf("%s of version %d, of %s release; this one reads version %d",
		e.what, e.version, age, formatVersion)
}

// parseHeader reads the header of the file of this generation.
func parseHeader(file []byte, generation uint64) (header, error) {
	if len(file) < headerFixed || string(file[:8]) != logMagic {
		return header{}, errHeader
	}
	if v := binary.LittleEndian.Uint32(file[8:]); v != formatVersion {
		return header{}, &versionError{"raft log", v}
	}
	size := int64(binary.LittleEndian.Uint32(file[12:]))
	if size < headerFixed+4 || size > int64(len(file)) {
		return header{}, errHeader
	}
	body, crc := file[:size-4], binary.LittleEndian.Uint32(file[size-4:])
	if crc32.Checksum(body, castagnoli) != crc {
		return header{}, errHeader
	}
	h := header{
		generation: binary.LittleEndian.Uint64(file[16:]),
		voter:      binary.LittleEndian.Uint64(file[24:]),
		start: Position{
			binary.LittleEndian.Uint64(file[32:]), binary.LittleEndian.Uint64(file[40:]),
		},
		baseEnd: int64(binary.LittleEndian.Uint64(file[48:])),
		size:    size,
	}
	rest, ok := parseMembers(body[headerFixed:], &h.members)
	if !ok || len(rest) > 0 || h.generation != generation || h.baseEnd < size || h.voter == 0 {
		return header{}, errHeader
	}
	return h, nil
}

func parseMembers(b []byte, c *ConfState) (rest []byte, ok bool) {
	for _, ids := range []*[]uint64{&c.Voters, &c.Learners, &c.VotersOutgoing, &c.LearnersNext} {
		if len(b) < 4 {
			return nil, false
		}
		n := int(binary.LittleEndian.Uint32(b))
		b = b[4:]
		if n > len(b)/8 {
			return nil, false
		}
		for range n {
			*ids = append(*ids, binary.LittleEndian.Uint64(b))
			b = b[8:]
		}
	}
	if len(b) < 1 || b[0] > 1 {
		return nil, false
	}
	c.AutoLeave = b[0] == 1
	return b[1:], true
}

// frame is one frame of a log file, decoded.
type frame struct {
	kind    byte // frameEntry or frameHardState
	durable int64
	entry   Entry     // of frameEntry; Data is a view
	hard    HardState // of frameHardState
	end     int64     // where the next frame starts
}

// appendEntryFrame appends the frame of an entry that will lie at this offset of the file.
func appendEntryFrame(dst []byte, generation uint64, offset, durable int64, e *Entry) []byte {
	start := len(dst)
	dst = appendFrameFixed(dst, frameEntry, byte(e.Kind), durable, e.Term, e.Index)
	return sealFrame(append(dst, e.Data...), start, generation, offset)
}

// appendHardStateFrame appends the frame of a hard state that will lie at this offset.
func appendHardStateFrame(
	dst []byte, generation uint64, offset, durable int64, h *HardState,
) []byte {
	start := len(dst)
	dst = appendFrameFixed(dst, frameHardState, 0, durable, h.Term, h.Commit)
	return sealFrame(binary.LittleEndian.AppendUint64(dst, h.Vote), start, generation, offset)
}

func appendFrameFixed(dst []byte, kind, entryKind byte, durable int64, term, index uint64) []byte {
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, kind, entryKind, 0, 0)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(durable))
	dst = binary.LittleEndian.AppendUint64(dst, term)
	return binary.LittleEndian.AppendUint64(dst, index)
}

// sealFrame fills in length and crc of the frame at the end of dst.
func sealFrame(dst []byte, start int, generation uint64, offset int64) []byte {
	f := dst[start:]
	binary.LittleEndian.PutUint32(f, uint32(len(f)-frameHead))
	binary.LittleEndian.PutUint32(f[4:], frameCRC(f, generation, offset))
	return dst
}

func frameCRC(f []byte, generation uint64, offset int64) uint32 {
	var place [16]byte
	binary.LittleEndian.PutUint64(place[:], generation)
	binary.LittleEndian.PutUint64(place[8:], uint64(offset))
	crc := crc32.Checksum(place[:], castagnoli)
	crc = crc32.Update(crc, castagnoli, f[:4])
	return crc32.Update(crc, castagnoli, f[frameHead:])
}

// parseFrame reads the frame at offset of a file; ok is false if there is no whole, valid frame.
func parseFrame(file []byte, generation uint64, offset int64) (f frame, ok bool) {
	b := file[offset:]
	if len(b) < frameFixed {
		return frame{}, false
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n < frameFixed-frameHead || n > int64(len(b)-frameHead) {
		return frame{}, false
	}
	b = b[:frameHead+n]
	kind, entryKind := b[8], b[9]
	durable := int64(binary.LittleEndian.Uint64(b[12:]))
	if b[10] != 0 || b[11] != 0 || durable < 0 || durable > offset ||
		binary.LittleEndian.Uint32(b[4:]) != frameCRC(b, generation, offset) {
		return frame{}, false
	}
	f = frame{kind: kind, durable: durable, end: offset + frameHead + n}
	term, index := binary.LittleEndian.Uint64(b[20:]), binary.LittleEndian.Uint64(b[28:])
	switch {
	case kind == frameEntry:
		f.entry = Entry{index, term, EntryKind(entryKind), b[frameFixed:len(b):len(b)]}
	case kind == frameHardState && len(b) == frameFixed+8:
		f.hard = HardState{term, binary.LittleEndian.Uint64(b[frameFixed:]), index}
	default:
		return frame{}, false
	}
	return f, true
}
