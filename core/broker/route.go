package broker

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// request routes a request to the handler of its key. The decoder lets no other key pass.
func (b *Broker) request(ev *env.Event) {
	r := ev.Req
	if r.Key >= 0 && r.Key < maxKey {
		b.Metrics.Requests[r.Key]++
	}
	o := b.originOf(r)
	switch body := r.Body.(type) {
	case *wire.ProduceRequest:
		b.produce(r, o, body)
	case *wire.FetchRequest:
		b.fetch(r, o, body)
	case *kmsg.ListOffsetsRequest:
		b.listOffsets(r, o, body)
	case *kmsg.MetadataRequest:
		b.metadata(r, o, body)
	case *kmsg.ApiVersionsRequest:
		b.apiVersions(r, o, body)
	case wire.UnsupportedApiVersions:
		b.unsupportedApiVersions(o)
	case *kmsg.CreateTopicsRequest:
		b.createTopics(r, o, body)
	case *kmsg.DeleteTopicsRequest:
		b.deleteTopics(r, o, body)
	case *kmsg.InitProducerIDRequest:
		b.initProducerID(r, o, body)
	default:
		invariant.Unreachable("a request without a handler was decoded")
	}
}
