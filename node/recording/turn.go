package recording

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/core/wire"
	"stet/node"
)

// turn is one turn of a recording.
type turn struct {
	Loop   node.LoopID
	Now    env.Now
	Events []event
}

// event is an env.Event without pointers into memory that was lent to the turn.
type event struct {
	Kind     env.EventKind
	FileOp   env.FileOpKind
	Err      env.Errno
	Slot     env.Slot
	Token    env.Token
	Conn     env.ConnID
	File     env.FileID
	N        int64
	Info     *env.ConnInfo // EventConnOpened
	Request  *request      // EventRequest
	Response *response     // EventResponse
	Fetched  *fetched      // EventResponse, of a follower's fetch
	Result   any           // EventJobDone, EventConfig
}

// request is a request as prepare left it: Produce without its payload, any other as its frame.
type request struct {
	Slot    env.Slot
	Bytes   int64
	Frame   []byte
	Produce *produce
}

type produce struct {
	Version         int16
	Correlation     int32
	ClientID        string
	TransactionalID []byte
	Acks            int16
	TimeoutMs       int32
	Topics          []produceTopic
}

type produceTopic struct {
	Name       []byte
	ID         kafka.TopicID
	Partitions []producePartition
}

type producePartition struct {
	Index       kafka.PartitionID
	RecordBytes int // -1: null
	Facts       record.Facts
}

// response is the answer to a request over a link.
type response struct {
	Key, Version int16
	Body         []byte
}

// fetched is the answer to a follower's fetch as prepare left it, without its payload.
type fetched struct {
	Version    int16
	Error      kafka.ErrorCode
	SessionID  int32
	Partitions []wire.ReplicaFetched // without Data
	Endpoints  []wire.Endpoint
}

func packFetched(r *wire.ReplicaFetchResponse) *fetched {
	out := &fetched{r.Version, r.Error, r.SessionID, slices.Clone(r.Partitions), r.Endpoints}
	for i := range out.Partitions {
		out.Partitions[i].Data = nil
	}
	return out
}

// pack copies what a turn was told into a form that can be written.
func pack(ev *env.Event) event {
	out := event{
		Kind: ev.Kind, FileOp: ev.FileOp, Err: ev.Err, Slot: ev.Slot, Token: ev.Token,
		Conn: ev.Conn, File: ev.File, N: ev.N,
	}
	switch ev.Kind {
	case env.EventConnOpened:
		out.Info = ev.Info
	case env.EventRequest:
		out.Request = packRequest(ev.Req)
	case env.EventResponse:
		switch r := ev.Res.(type) {
		case *wire.ReplicaFetchResponse:
			out.Fetched = packFetched(r)
		case kmsg.Response:
			out.Response = &response{r.Key(), r.GetVersion(), r.AppendTo(nil)}
		}
	default:
		out.Result = ev.Res
	}
	return out
}

func packRequest(r *env.Request) *request {
	out := &request{Slot: r.Slot, Bytes: r.Bytes}
	p, ok := r.Body.(*wire.ProduceRequest)
	if !ok {
		out.Frame = r.Frame.Bytes()
		return out
	}
	out.Produce = &produce{
		Version: r.Version, Correlation: r.Correlation, ClientID: r.ClientID,
		TransactionalID: p.TransactionalID, Acks: p.Acks, TimeoutMs: p.TimeoutMs,
	}
	for i := range p.Topics {
		t := &p.Topics[i]
		topic := produceTopic{Name: t.Name, ID: t.ID}
		for j := range t.Partitions {
			size := len(t.Partitions[j].Records)
			if t.Partitions[j].Records == nil {
				size = -1
			}
			topic.Partitions = append(topic.Partitions,
				producePartition{t.Partitions[j].Index, size, t.Partitions[j].Facts})
		}
		out.Produce.Topics = append(out.Produce.Topics, topic)
	}
	return out
}

// unpacker turns recorded events back into what a turn is told.
type unpacker struct {
	decoders [node.LoopCount]*wire.Decoder
	infos    [node.LoopCount]map[env.ConnID]*env.ConnInfo
	zeros    []byte
}

func newUnpacker() *unpacker {
	return &unpacker{
		decoders: [node.LoopCount]*wire.Decoder{
			node.BrokerLoop:     wire.NewDecoder(wire.BrokerListener, wire.DefaultLimits()),
			node.ControllerLoop: wire.NewDecoder(wire.ControllerListener, wire.DefaultLimits()),
		},
		infos: [node.LoopCount]map[env.ConnID]*env.ConnInfo{{}, {}},
	}
}

func (u *unpacker) unpack(l node.LoopID, ev *event) (env.Event, error) {
	out := env.Event{
		Kind: ev.Kind, FileOp: ev.FileOp, Err: ev.Err, Slot: ev.Slot, Token: ev.Token,
		Conn: ev.Conn, File: ev.File, N: ev.N, Info: ev.Info, Res: ev.Result,
	}
	var err error
	switch ev.Kind {
	case env.EventConnOpened:
		u.infos[l][ev.Conn] = ev.Info
	case env.EventRequest:
		out.Req, err = u.request(l, ev)
	case env.EventResponse:
		switch {
		case ev.Fetched != nil:
			out.Res = u.fetched(ev.Fetched)
		case ev.Response != nil:
			out.Res, err = u.response(ev.Response)
		}
	}
	return out, err
}

func (u *unpacker) request(l node.LoopID, ev *event) (*env.Request, error) {
	r := &env.Request{
		Conn: ev.Conn, Slot: ev.Request.Slot, Info: u.infos[l][ev.Conn], Bytes: ev.Request.Bytes,
		Frame: noBuffer{},
	}
	if ev.Request.Produce != nil {
		u.produce(ev.Request.Produce, r)
		return r, nil
	}
	return r, u.decoders[l].Decode(ev.Request.Frame, r)
}

func (u *unpacker) produce(p *produce, r *env.Request) {
	r.Key, r.Version, r.Correlation, r.ClientID = wire.KeyProduce, p.Version, p.Correlation, p.ClientID
	body := &wire.ProduceRequest{
		TransactionalID: p.TransactionalID, Acks: p.Acks, TimeoutMs: p.TimeoutMs,
	}
	for _, t := range p.Topics {
		topic := wire.ProduceTopic{Name: t.Name, ID: t.ID}
		for _, q := range t.Partitions {
			topic.Partitions = append(topic.Partitions, wire.ProducePartition{
				Index: q.Index, Records: u.payload(q.RecordBytes), Facts: q.Facts,
			})
		}
		body.Topics = append(body.Topics, topic)
	}
	r.Body = body
}

// payload stands in for record bytes, which no decision reads.
func (u *unpacker) payload(size int) []byte {
	if size < 0 {
		return nil
	}
	if size > len(u.zeros) {
		u.zeros = make([]byte, 2*size)
	}
	return u.zeros[:size:size]
}

func (u *unpacker) fetched(f *fetched) *wire.ReplicaFetchResponse {
	for i := range f.Partitions {
		p := &f.Partitions[i]
		for j := range p.Batches {
			p.Data = append(p.Data, u.payload(int(p.Batches[j].SizeBytes)))
		}
	}
	return &wire.ReplicaFetchResponse{
		Version: f.Version, Error: f.Error, SessionID: f.SessionID, Partitions: f.Partitions,
		Endpoints: f.Endpoints, Frame: noBuffer{},
	}
}

func (u *unpacker) response(r *response) (any, error) {
	out := wire.NewResponse(r.Key)
	if out == nil {
		return nil, fmt.Errorf("a response to the unknown key %d", r.Key)
	}
	out.SetVersion(r.Version)
	return out, out.ReadFrom(r.Body)
}

// noBuffer is the frame of a replayed request: there are no bytes, and nobody counts references.
type noBuffer struct{}

func (noBuffer) Bytes() []byte { return nil }
func (noBuffer) Retain()       {}
func (noBuffer) Release()      {}

// appendTurn appends a turn; the hash of its effects comes behind it.
func appendTurn(b []byte, t *turn) []byte { return appendDeep(b, reflect.ValueOf(t).Elem()) }
