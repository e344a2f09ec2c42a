package controller

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// queue is what is proposed and not yet committed, and the answers that wait for it.
//
// Decisions are made against latest: the committed image with every proposal applied. An answer
// waits for the last proposal that its decision has seen, even if it proposes nothing itself:
// otherwise a crash could take back what a client was told about.
type queue struct {
	latest    *metadata.Image
	proposals []proposal // ascending by index
	answers   []answer   // ascending by index and by read
}

// proposal is an entry under way, with the image that it makes.
type proposal struct {
	index, term uint64
	image       *metadata.Image
}

// answer waits until everything up to index is committed and, if it proposes nothing, until the
// proof read has come that this controller led when it was decided (reads).
type answer struct {
	origin
	index uint64
	read  uint64 // 0: the commit is proof enough
	body  kmsg.Response
	// refuse makes the answer an error, when this controller stops leading before.
	refuse func(kafka.ErrorCode) kmsg.Response
}

// origin is where an answer goes.
type origin struct {
	conn        env.ConnID
	slot        env.Slot
	version     int16
	correlation int32
}

func (o origin) connection() env.ConnID { return o.conn }

func originOf(r *env.Request) origin {
	return origin{r.Conn, r.Slot, r.Version, r.Correlation}
}

func newQueue() queue { return queue{latest: metadata.Empty()} }

// restart begins a term of leading with the committed image.
func (q *queue) restart(image *metadata.Image) {
	invariant.Always(len(q.proposals) == 0 && len(q.answers) == 0,
		"a term begins with proposals of another")
	q.latest = image
}

// committed returns the image of the entry at index if it is one of the proposals; nil if raft or
// another leader made it. An entry of another leader in the place of a proposal means that all
// proposals are lost, and those who wait are about to be refused.
func (q *queue) committed(index, term uint64) *metadata.Image {
	if len(q.proposals) == 0 || q.proposals[0].index != index {
		return nil
	}
	p := q.proposals[0]
	q.proposals = q.proposals[1:]
	if p.term != term {
		invariant.Always(term > p.term, "a proposal is replaced by something older")
		q.proposals = nil
		return nil
	}
	return p.image
}

// propose makes records an entry. It returns the index of the entry; ok is false if too much is
// under way.
func (c *Controller) propose(records []metadata.Record) (index uint64, ok bool) {
	q := c.life.quorum
	entry := metadata.AppendEntry(nil, records...)
	if index, ok = q.Propose(entry); !ok {
		return 0, false
	}
	image, err := c.config.Levels.ApplyEntry(c.queue.latest, metadata.Index(index), entry)
	if err != nil {
		invariant.Unreachable("a decision does not apply: " + err.Error())
	}
	c.queue.latest = image
	c.queue.proposals = append(c.queue.proposals, proposal{index, q.Term(), image})
	return index, true
}

// decided proposes the records of a decision, if any, and has its answer wait. With index the
// answer is completed by where the entry will be; it may be nil.
func (c *Controller) decided(r *env.Request, records []metadata.Record, body kmsg.Response,
	refuse func(kafka.ErrorCode) kmsg.Response, place func(index uint64),
) {
	a := answer{origin: originOf(r), index: c.life.quorum.Proposed(), body: body, refuse: refuse}
	if len(records) > 0 {
		index, ok := c.propose(records)
		if !ok {
			c.respond(a.origin, refuse(kafka.RequestTimedOut))
			return
		}
		a.index = index
		if place != nil {
			place(index)
		}
	} else if id, ok := c.reads.ask(c.life.quorum); ok {
		a.read = id
	} else {
		c.respond(a.origin, refuse(kafka.NotController))
		return
	}
	c.Metrics.Requests++
	c.queue.answers = append(c.queue.answers, a)
}

// decidedOnce is decided for requests that a broker sends again when they are refused because this node
// does not lead. One that is proposed when this node stops leading may still be committed, and is
// refused as out of time instead.
func (c *Controller) decidedOnce(r *env.Request, records []metadata.Record, body kmsg.Response,
	refuse func(kafka.ErrorCode) kmsg.Response,
) {
	if len(records) == 0 {
		c.decided(r, nil, body, refuse, nil)
		return
	}
	c.decided(r, records, body, func(code kafka.ErrorCode) kmsg.Response {
		if code == kafka.NotController {
			code = kafka.RequestTimedOut
		}
		return refuse(code)
	}, nil)
}

// answer sends what has waited long enough. Nothing is sent by a controller that does not lead any
// more: what it waits for may have become something else.
func (q *queue) answer(c *Controller) {
	if c.term == 0 {
		return
	}
	applied := c.life.quorum.Applied().Index
	n := 0
	for n < len(q.answers) && q.answers[n].index <= applied &&
		q.answers[n].read <= c.reads.confirmed {
		c.respond(q.answers[n].origin, q.answers[n].body)
		n++
	}
	clear(q.answers[:n])
	q.answers = q.answers[n:]
	if len(q.answers) == 0 {
		q.answers = nil
	}
}

// refuse ends a term: nothing that waits is known to have happened, or not to have.
func (q *queue) refuse(c *Controller) {
	for i := range q.answers {
		c.Metrics.Refused++
		c.respond(q.answers[i].origin, q.answers[i].refuse(kafka.NotController))
	}
	*q = newQueue()
}

// forget drops the answers to a connection that is gone.
func (q *queue) forget(conn env.ConnID) { q.answers = dropConn(q.answers, conn) }

// respond fills the slot of a request.
func (c *Controller) respond(o origin, body kmsg.Response) {
	start := c.out.Mark()
	c.out.Bytes = wire.AppendResponse(c.out.Bytes, o.version, o.correlation, 0, body)
	c.out.Conn = append(c.out.Conn, env.ConnOp{
		Op: env.ConnRespond, Conn: o.conn, Slot: o.slot, Head: c.out.SpanFrom(start),
	})
}
