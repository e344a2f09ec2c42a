package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// QuorumController is what a controller says of itself.
//
//	clusterId nullable string, nodeId int32, directoryId uuid, voterId int64, formed bool,
//	nodes [int32], minLevel int16, maxLevel int16
type QuorumController struct {
	ClusterID   string // "" when not known; null on the wire
	NodeID      int32
	DirectoryID [16]byte
	VoterID     int64   // of the directory, never 0
	Formed      bool    // the directory has the membership of a quorum
	Nodes       []int32 // of its configured list, ascending
	// The feature levels that its software supports, inclusive.
	MinLevel, MaxLevel int16
}

// QuorumFounder is a voter that a quorum was founded with.
type QuorumFounder struct {
	VoterID     int64
	NodeID      int32
	DirectoryID [16]byte
}

const quorumFounderBytes = 32

// QuorumHelloRequest is the first request over a link between two controllers. It is Stet's own.
//
//	controller QuorumController, tags
type QuorumHelloRequest struct {
	OwnVersion
	QuorumController
}

// QuorumHelloResponse says who answers and what it knows of the quorum. With an error code the rest
// still says who answers.
//
//	errorCode int16, errorMessage nullable string, controller QuorumController,
//	founders [voterId int64, nodeId int32, directoryId uuid, tags],
//	leaderId int32, leaderVoter int64, term int64, leaderAddress nullable string, stranger bool, tags
type QuorumHelloResponse struct {
	OwnVersion
	ErrorCode    int16
	ErrorMessage string // "" is null on the wire
	QuorumController
	Founders    []QuorumFounder // of a formed quorum, as long as its log still says
	LeaderID    int32           // node id; -1 when not known
	LeaderVoter int64           // 0 when not known
	Term        int64
	// LeaderAddress is host:port of the leader's controller listener: who asks may have another list.
	LeaderAddress string // "" when not known; null on the wire
	// Stranger says that who answers leads the quorum, and that who asks is no member of it.
	Stranger bool
}

var (
	_ kmsg.Request  = (*QuorumHelloRequest)(nil)
	_ kmsg.Response = (*QuorumHelloResponse)(nil)
)

func (c *QuorumController) append(dst []byte) []byte {
	dst = appendOptional(dst, c.ClusterID)
	dst = appendInt32(dst, c.NodeID)
	dst = append(dst, c.DirectoryID[:]...)
	dst = appendInt64(dst, c.VoterID)
	dst = appendBool(dst, c.Formed)
	dst = appendLength(dst, len(c.Nodes), true)
	for _, n := range c.Nodes {
		dst = appendInt32(dst, n)
	}
	dst = appendInt16(dst, c.MinLevel)
	return appendInt16(dst, c.MaxLevel)
}

func (c *QuorumController) read(r *reader) {
	c.ClusterID = r.nullableString()
	c.NodeID = r.int32()
	c.DirectoryID = r.uuid()
	c.VoterID = r.int64()
	c.Formed = r.int8() != 0
	c.Nodes = c.Nodes[:0]
	for n := r.list(true, 4); n > 0 && r.ok(); n-- {
		c.Nodes = append(c.Nodes, r.int32())
	}
	c.MinLevel = r.int16()
	c.MaxLevel = r.int16()
}

// Key implements kmsg.Request.
func (*QuorumHelloRequest) Key() int16 { return KeyQuorumHello }

// ResponseKind implements kmsg.Request.
func (*QuorumHelloRequest) ResponseKind() kmsg.Response { return new(QuorumHelloResponse) }

// AppendTo implements kmsg.Request.
func (q *QuorumHelloRequest) AppendTo(dst []byte) []byte {
	return append(q.QuorumController.append(dst), 0)
}

// ReadFrom implements kmsg.Request.
func (q *QuorumHelloRequest) ReadFrom(src []byte) error {
	return readOwn(src, q.QuorumController.read)
}

func scanQuorumHello(r *reader) {
	r.scanNullableText(true)
	r.skip(4 + 16 + 8 + 1)
	r.skip(4 * r.list(true, 4))
	r.skip(2 + 2)
	r.scanTags(true)
}

// Key implements kmsg.Response.
func (*QuorumHelloResponse) Key() int16 { return KeyQuorumHello }

// RequestKind implements kmsg.Response.
func (*QuorumHelloResponse) RequestKind() kmsg.Request { return new(QuorumHelloRequest) }

// AppendTo implements kmsg.Response.
func (q *QuorumHelloResponse) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, q.ErrorCode)
	dst = appendOptional(dst, q.ErrorMessage)
	dst = q.QuorumController.append(dst)
	dst = appendLength(dst, len(q.Founders), true)
	for i := range q.Founders {
		f := &q.Founders[i]
		dst = appendInt64(dst, f.VoterID)
		dst = appendInt32(dst, f.NodeID)
		dst = append(dst, f.DirectoryID[:]...)
		dst = append(dst, 0)
	}
	dst = appendInt32(dst, q.LeaderID)
	dst = appendInt64(dst, q.LeaderVoter)
	dst = appendInt64(dst, q.Term)
	dst = appendOptional(dst, q.LeaderAddress)
	dst = appendBool(dst, q.Stranger)
	return append(dst, 0)
}

// ReadFrom implements kmsg.Response.
func (q *QuorumHelloResponse) ReadFrom(src []byte) error {
	return readOwn(src, func(r *reader) {
		q.ErrorCode = r.int16()
		q.ErrorMessage = r.nullableString()
		q.QuorumController.read(r)
		q.Founders = q.Founders[:0]
		for n := r.list(true, quorumFounderBytes); n > 0 && r.ok(); n-- {
			f := QuorumFounder{VoterID: r.int64(), NodeID: r.int32(), DirectoryID: r.uuid()}
			r.skipTags(true)
			q.Founders = append(q.Founders, f)
		}
		q.LeaderID = r.int32()
		q.LeaderVoter = r.int64()
		q.Term = r.int64()
		q.LeaderAddress = r.nullableString()
		q.Stranger = r.int8() != 0
	})
}
