package broker

import (
	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// InitProducerId (key 22), versions 0 to 5, for idempotent producers: a producer id out of a block
// that the controller has given to this broker (KIP-730), with epoch 0, whatever the producer had
// before (TransactionCoordinator.handleInitProducerId without a transactional id). With a
// transactional id it is COORDINATOR_NOT_AVAILABLE: there is no coordinator yet.

// producerIDs is this broker's block of producer ids, and who waits for the next one.
type producerIDs struct {
	next, end kafka.ProducerID // [next, end) is free
	under     bool             // a block is being asked for
	waiting   []origin
}

func (b *Broker) initProducerID(r *env.Request, o origin, m *kmsg.InitProducerIDRequest) {
	if m.TransactionalID != nil {
		code := b.Authorize(r.Info, opWrite, resourceTransactionalID, *m.TransactionalID)
		switch {
		case code != kafka.None:
		case *m.TransactionalID == "":
			code = kafka.InvalidRequest
		default:
			code = kafka.CoordinatorNotAvailable
		}
		b.replyProducerID(o, kafka.NoProducerID, code)
		return
	}
	if code := b.Authorize(r.Info, opIdempotentWrite, resourceCluster, ""); code != kafka.None {
		b.replyProducerID(o, kafka.NoProducerID, code)
		return
	}
	b.ids.waiting = append(b.ids.waiting, o)
	b.ids.serve(b)
}

// serve gives out what there is and asks for more when somebody waits.
func (p *producerIDs) serve(b *Broker) {
	for len(p.waiting) > 0 && p.next < p.end {
		o := p.waiting[0]
		p.waiting = p.waiting[1:]
		b.replyProducerID(o, p.next, kafka.None)
		p.next++
	}
	if len(p.waiting) == 0 || p.under {
		return
	}
	if !b.register.known || !b.link.up() {
		p.refuse(b)
		return
	}
	p.under = true
	m := kmsg.NewPtrAllocateProducerIDsRequest()
	m.BrokerID, m.BrokerEpoch = int32(b.config.NodeID), int64(b.register.epoch)
	b.link.send(b, m, p)
}

func (p *producerIDs) answered(b *Broker, res any, err env.Errno) {
	p.under = false
	m, ok := res.(*kmsg.AllocateProducerIDsResponse)
	if ok && kafka.ErrorCode(m.ErrorCode) == kafka.NotController {
		b.link.leadsNot(b, kafka.NoBroker)
	}
	if err != env.OK || !ok || m.ErrorCode != 0 || m.ProducerIDLen <= 0 {
		p.refuse(b)
		return
	}
	p.next = kafka.ProducerID(m.ProducerIDStart)
	p.end = p.next + kafka.ProducerID(m.ProducerIDLen)
	p.serve(b)
}

// refuse tells everybody who waits to try again.
func (p *producerIDs) refuse(b *Broker) {
	for _, o := range p.waiting {
		b.replyProducerID(o, kafka.NoProducerID, kafka.CoordinatorLoadInProgress)
	}
	p.waiting = nil
}

func (b *Broker) replyProducerID(o origin, id kafka.ProducerID, code kafka.ErrorCode) {
	m := kmsg.NewPtrInitProducerIDResponse()
	m.ErrorCode, m.ProducerID, m.ProducerEpoch = int16(code), int64(id), -1
	if code == kafka.None {
		m.ProducerEpoch = 0
	}
	b.reply(o, m)
}
