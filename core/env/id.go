package env

import "strings"

// DirID is the index of a data directory in the node's configuration, from 0.
type DirID uint8

// Path names a file or directory below a data directory; Name uses slashes and is relative.
// Name "" is the data directory itself.
type Path struct {
	Dir  DirID
	Name string
}

// Parent returns the directory that p lies in; the data directory is its own parent.
func (p Path) Parent() Path {
	return Path{p.Dir, p.Name[:max(0, strings.LastIndexByte(p.Name, '/'))]}
}

// Owner is the index of the replica (or other component) inside a loop that an id belongs to, so
// that a completion finds its way without a table. Owners are never reused while the process
// lives; owner 0 is the loop itself. At most 2^24-1.
type Owner uint32

// FileID names one open file. The core assigns it and never reuses it while the process lives:
// DirID in the top 8 bits, then 24 bits of Owner, then a counter. Zero is no file.
type FileID uint64

// MakeFileID joins a directory, an owner and the owner's own counter (from 1).
func MakeFileID(dir DirID, owner Owner, n uint32) FileID {
	return FileID(uint64(dir)<<56 | uint64(owner&(1<<24-1))<<32 | uint64(n))
}

// Dir returns the directory that the file lies in.
func (f FileID) Dir() DirID { return DirID(f >> 56) }

// Owner returns the component that assigned the id.
func (f FileID) Owner() Owner { return Owner(f>>32) & (1<<24 - 1) }

// ConnID names one connection of a loop, and is never reused. Zero is no connection. The node
// assigns the ids of inbound connections, the core those of links, which it opens itself.
type ConnID uint64

// linkBit tells links from inbound connections.
const linkBit ConnID = 1 << 63

// MakeLinkID returns the id of the loop's link number n, counted from 1.
func MakeLinkID(n uint64) ConnID { return linkBit | ConnID(n) }

// Link says whether c was opened by the core, with ConnDial.
func (c ConnID) Link() bool { return c&linkBit != 0 }

// Slot is the place of a response in its connection's order: request k takes slot k.
type Slot uint32

// NoSlot marks a request that gets no response (Produce with acks=0).
const NoSlot Slot = 1<<32 - 1

// Token comes back in the event that completes an effect. The core assigns it: 24 bits of Owner,
// then 40 bits of the owner's own counter. Zero asks for no event on success; a failure is always
// reported.
type Token uint64

// MakeToken joins an owner and the owner's own counter (1 .. 2^40-1).
func MakeToken(owner Owner, n uint64) Token { return Token(uint64(owner)<<40 | n&(1<<40-1)) }

// Owner returns the component that assigned the token.
func (t Token) Owner() Owner { return Owner(t >> 40) }

// Use names an independent stream of randomness, so that a draw added in one place does not move
// the others.
type Use uint8

const (
	UseRaft      Use = iota // etcd raft's election timeouts
	UseTopicID              // topic ids
	UseSessionID            // fetch session ids
	UseIdentity             // cluster, directory and incarnation ids
	UseCount
)

// Identity is what a world knows about the machine and the process: the kernel's boot id, which
// changes whenever memory may have been lost, and a random id of this process.
type Identity struct {
	BootID      string
	Incarnation [16]byte
}
