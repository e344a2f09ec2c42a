package controller

import (
	"cmp"
	"slices"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// peers are the other controllers, and one link to each. A link begins with a hello, which tells who
// is at its other end; only then raft's messages go over it. A link that breaks, or that does not
// answer, is opened again after a pause. The map from voters to links is made of hellos: it is soft,
// and what can not be sent is dropped, which raft can live with.
type peers struct {
	opened uint64          // links so far; ids are never reused
	all    []*peer         // ascending by node
	listed *metadata.Image // that all was made of; nil: to be made again

	// learned is a leader whom only others know, or know where it is: one that joined or moved after this
	// controller's list was written, and before it has followed the log.
	learned kafka.ControllerAddress
}

// peer is another controller.
type peer struct {
	node  kafka.BrokerID
	addrs []string // where it may listen: the list's address, and its own in the metadata
	addr  string   // one of addrs: that of the link, or of the next
	found string   // where it was last; "" before the first hello
	link  link
	at    env.Mono                  // when to dial, or if the link is open to say hello; or Never
	hello *wire.QuorumHelloResponse // of this link; nil before the first, and after a refusal
	told  string                    // the last complaint in the log
}

// voter returns the voter at the other end, or 0 if that is not known.
func (p *peer) voter() uint64 {
	if p.hello == nil {
		return 0
	}
	return uint64(p.hello.VoterID)
}

// list takes over who there is: the configured list first, then what voters said of themselves, then
// the leader that others have named. A peer that is known under several addresses is tried at one
// after the other; one that has left its address is dialled anew.
func (s *peers) list(c *Controller) {
	if s.listed == c.image {
		return
	}
	s.listed = c.image
	addresses := slices.Clone(c.config.Controllers)
	for v := range c.image.Voters() {
		addresses = append(addresses, kafka.ControllerAddress{Node: v.Node, Addr: addressOf(v.Endpoints)})
	}
	addresses = append(addresses, s.learned)
	old := s.all
	s.all = nil
	for _, a := range addresses {
		if a.Node == c.config.NodeID || a.Addr == "" {
			continue
		}
		p := s.ofNode(a.Node)
		if p == nil {
			p = &peer{node: a.Node, addr: a.Addr}
			s.all = append(s.all, p)
		}
		if !slices.Contains(p.addrs, a.Addr) {
			p.addrs = append(p.addrs, a.Addr)
		}
	}
	for i, p := range s.all {
		same := func(o *peer) bool { return o.node == p.node && slices.Contains(p.addrs, o.addr) }
		if j := slices.IndexFunc(old, same); j >= 0 {
			s.all[i] = old[j]
			s.all[i].addrs = p.addrs
			old = slices.Delete(old, j, j+1)
		}
	}
	for _, p := range old {
		if p.link.conn != 0 {
			s.lost(c, p)
			p.link.close(c, env.OK)
		}
	}
	slices.SortFunc(s.all, func(a, b *peer) int { return cmp.Compare(a.node, b.node) })
}

// learn takes in the leader that another controller has named, unless it is known there.
func (s *peers) learn(c *Controller, leader kafka.ControllerAddress) {
	if p := s.ofNode(leader.Node); leader.Addr == "" || p != nil && slices.Contains(p.addrs, leader.Addr) {
		return
	}
	s.learned, s.listed = leader, nil
	s.list(c)
}

func (s *peers) ofNode(node kafka.BrokerID) *peer {
	for _, p := range s.all {
		if p.node == node {
			return p
		}
	}
	return nil
}

// ofVoter returns the peer that has said that it is this voter, or nil.
func (s *peers) ofVoter(voter uint64) *peer {
	for _, p := range s.all {
		if p.voter() == voter && voter != 0 {
			return p
		}
	}
	return nil
}

func (s *peers) ofLink(conn env.ConnID) *peer {
	for _, p := range s.all {
		if p.link.conn == conn {
			return p
		}
	}
	return nil
}

// run dials, greets, and gives up what does not answer.
func (s *peers) run(c *Controller) {
	for _, p := range s.all {
		if c.now.Mono >= p.link.overdue() {
			s.lost(c, p)
			p.link.close(c, env.ETimedOut)
		}
		if c.now.Mono < p.due() {
			continue
		}
		p.at = env.Never
		switch {
		case p.link.conn == 0:
			s.opened++
			p.link.dial(c, env.MakeLinkID(s.opened), p.addr)
		case !c.known():
			p.again(c)
		default:
			hello := &wire.QuorumHelloRequest{QuorumController: c.describe()}
			p.link.send(c, hello, asked{round: c.bootstrap.round})
		}
	}
}

// due is when to dial or to say hello. Neither is done while it is under way.
func (p *peer) due() env.Mono {
	if p.link.conn != 0 && (!p.link.open || p.link.asking(wire.KeyQuorumHello)) {
		return env.Never
	}
	return p.at
}

// deadline is when run has something to do.
func (s *peers) deadline() env.Mono {
	at := env.Never
	for _, p := range s.all {
		at = min(at, p.due(), p.link.overdue())
	}
	return at
}

// event takes what happened to a link.
func (s *peers) event(c *Controller, ev *env.Event) {
	p := s.ofLink(ev.Conn)
	if p == nil {
		return // of a link that was given up
	}
	switch ev.Kind {
	case env.EventConnOpened:
		p.link.open, p.at = true, c.now.Mono
	case env.EventConnClosed:
		greeted, left := p.hello != nil, p.addr == p.found
		s.lost(c, p)
		p.link = link{}
		switch {
		case ev.Err == env.ERefused && left:
			c.succession.gone(c, p.node)
		case greeted:
			p.at = c.now.Mono // whether anybody still listens is wanted now
		}
	case env.EventResponse:
		if a, ok := p.link.answered(ev.Slot); ok {
			res, _ := ev.Res.(kmsg.Response)
			s.answered(c, p, &a, res)
		}
	}
}

// lost forgets what came over a link, and lets it be dialled again: at another address, if nobody has
// said there that it is the peer.
func (s *peers) lost(c *Controller, p *peer) {
	if p.hello == nil {
		i := slices.Index(p.addrs, p.addr)
		p.addr = p.addrs[(i+1)%len(p.addrs)]
	}
	if voter := p.voter(); voter != 0 && c.life.quorum != nil {
		c.life.quorum.Unreachable(voter)
	}
	p.hello, p.at = nil, c.now.Mono.Add(c.config.RedialPause)
}

// refresh has every peer greeted again after a pause: what they say changes.
func (s *peers) refresh(c *Controller) {
	for _, p := range s.all {
		if p.hello != nil && p.at == env.Never {
			p.again(c)
		}
	}
}

// again greets a peer over its link once more, after a pause.
func (p *peer) again(c *Controller) {
	if p.link.open {
		p.at = min(p.at, c.now.Mono.Add(c.config.RedialPause))
	}
}

func (s *peers) answered(c *Controller, p *peer, a *asked, res kmsg.Response) {
	switch m := res.(type) {
	case *wire.QuorumHelloResponse:
		c.greeted(p, a, m)
	case *wire.QuorumMessagesResponse:
		if m.ErrorCode != 0 {
			// It is somebody else by now, or not ready: ask who.
			p.hello = nil
			p.again(c)
		}
	case *wire.QuorumSnapshotResponse:
		c.snapshots.received(c, a, m)
	case *kmsg.AddRaftVoterResponse:
		c.joining.answered(c, p, m)
	case *kmsg.UpdateRaftVoterResponse:
		c.announces.answered(c, p, m)
	default:
		s.lost(c, p)
		p.link.close(c, env.EMalformed)
	}
}

// Bounds of what is under way to one peer. A peer that is slower gets nothing more, and raft sends
// it again when it asks.
const (
	maxFrameBytes    = 4 << 20
	maxUnderWayBytes = 64 << 20
)

// deliver sends raft's messages: all for one peer in one request, up to the bound of a frame.
func (s *peers) deliver(c *Controller, messages []quorum.Message) {
	for len(messages) > 0 {
		to := messages[0].To
		request := &wire.QuorumMessagesRequest{
			ClusterID: c.image.ClusterID(), FromVoter: int64(c.voter), ToVoter: int64(to),
		}
		var rest []quorum.Message
		bytes, full := 0, false
		for _, m := range messages {
			full = full || m.To == to && bytes > 0 && bytes+len(m.Data) > maxFrameBytes
			if m.To != to || full {
				rest = append(rest, m)
				continue
			}
			bytes += len(m.Data)
			request.Messages = append(request.Messages, m.Data)
		}
		messages = rest
		p := s.ofVoter(to)
		if p == nil || p.link.bytes+bytes > maxUnderWayBytes {
			c.life.quorum.Unreachable(to)
			continue
		}
		p.link.send(c, request, asked{})
	}
}
