package golden

import (
	"slices"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"stet/core/env"
	"stet/core/wire"
	"stet/sim"
)

// loss is a kind of raft messages that one controller sends to another and that get lost, or the
// entries in them.
type loss struct {
	from, to sim.Place // to: 0 for any
	kind     string    // as raft calls it: MsgApp
	term     uint64    // lost are the entries of this term in the messages; 0: the messages
}

// lose has messages of raft get lost on their way from one controller to another, or to all.
func lose(s *stage, a *args) {
	l := loss{from: s.place(a)}
	if to := a.next("a controller, or all"); to != "all" {
		l.to = s.placeOf(a, to)
	}
	l.kind = a.next("a kind of message")
	l.term = uint64(a.number(a.option("term", "0")))
	if _, known := pb.MessageType_value[l.kind]; !known {
		a.fails("%q is no kind of raft's messages", l.kind)
	}
	if a.ok() {
		s.losses = append(s.losses, l)
	}
}

// pass ends all losses, and has arrive what was held.
func pass(s *stage, _ *args) {
	s.losses = nil
	s.release()
}

// arrives returns what arrives of a message of raft, nil if nothing does. A message that has lost
// entries is one of a leader that sends fewer at a time.
func (s *stage) arrives(from, to sim.Place, data []byte) []byte {
	m := &pb.Message{}
	if proto.Unmarshal(data, m) != nil {
		return data
	}
	for _, l := range s.losses {
		if l.from != from || l.to != 0 && l.to != to || l.kind != m.GetType().String() {
			continue
		}
		if l.term == 0 {
			return nil
		}
		of := func(e *pb.Entry) bool { return e.GetTerm() == l.term }
		if i := slices.IndexFunc(m.Entries, of); i >= 0 {
			m.Entries = m.Entries[:i]
			data, _ = proto.Marshal(m)
		}
	}
	return data
}

// sieve stands before the listener of a controller. Frames arrive as the network brings them; messages
// that get lost are taken out, as a sender with a full queue does: raft must do without any of them.
type sieve struct {
	env.Acceptor
	stage *stage
	at    sim.Place
}

// Accept implements env.Acceptor.
func (f sieve) Accept(w env.ConnWriter, info env.ConnInfo) env.ConnReader {
	r := f.Acceptor.Accept(w, info)
	if r == nil {
		return nil
	}
	return &sieved{ConnReader: r, sieve: f, remote: info.Remote}
}

// sieved is a connection to a controller.
type sieved struct {
	env.ConnReader
	sieve  sieve
	remote string // the place at the other end
	closed bool
}

// Closed implements env.ConnReader.
func (r *sieved) Closed(err env.Errno) {
	r.closed = true
	r.ConnReader.Closed(err)
}

// Deliver implements env.ConnReader.
func (r *sieved) Deliver(frame env.Buffer) env.Verdict {
	h, body, err := wire.ParseHeader(wire.ControllerListener, frame.Bytes())
	from := r.sieve.stage.machines[r.remote]
	m := &wire.QuorumMessagesRequest{}
	if err == nil && from != nil && r.sieve.stage.holdsBack(from.Place, r, h.Key, frame) {
		return env.Continue
	}
	if err != nil || from == nil || h.Key != wire.KeyQuorumMessages || m.ReadFrom(body) != nil {
		return r.ConnReader.Deliver(frame)
	}
	var arrived [][]byte
	for _, data := range m.Messages {
		if data = r.sieve.stage.arrives(from.Place, r.sieve.at, data); data != nil {
			arrived = append(arrived, data)
		}
	}
	m.Messages = arrived
	head := frame.Bytes()[:len(frame.Bytes())-len(body)]
	return r.ConnReader.Deliver(shortened{frame, m.AppendTo(slices.Clone(head))})
}

// shortened is a frame with less in it.
type shortened struct {
	env.Buffer
	bytes []byte
}

// Bytes implements env.Buffer.
func (b shortened) Bytes() []byte { return b.bytes }
