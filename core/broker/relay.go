package broker

import (
	"time"

	"stet/core/env"
	"stet/core/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// relay is a request that goes to the active controller as the client wrote it, and whose answer
// goes back as the controller wrote it, in the client's version.
type relay struct {
	origin
	wait   *topicWait
	answer kmsg.Response
	// refuse makes the answer an error for everything that was sent.
	refuse func(kafka.ErrorCode, *string) kmsg.Response
	// taken is told of the controller's answer, to add to it; nil for nothing.
	taken func(kmsg.Response)
}

// relay sends m. A request without a time of its own has the broker's.
func (b *Broker) relay(o origin, m kmsg.Request, timeoutMs int32,
	refuse func(kafka.ErrorCode, *string) kmsg.Response,
) *relay {
	f := &relay{origin: o, refuse: refuse}
	f.wait = &topicWait{request: f}
	if timeoutMs < 0 {
		timeoutMs = int32(min(b.config.RequestTimeout, mostTopicWait) / time.Millisecond)
	}
	b.forward(m, f.wait, timeoutMs, f)
	return f
}

// relayAllowed relays a request that is about the cluster as a whole.
func (b *Broker) relayAllowed(r *env.Request, o origin, op operation, m kmsg.Request, timeoutMs int32,
	refuse func(kafka.ErrorCode, *string) kmsg.Response,
) {
	if code := b.Authorize(r.Info, op, resourceCluster, ""); code != kafka.None {
		b.reply(o, refuse(code, nil))
		return
	}
	b.relay(o, m, timeoutMs, refuse)
}

const noTimeout int32 = -1 // of a request that has none of its own

func (f *relay) answered(b *Broker, res any, err env.Errno) {
	f.wait.decided = true
	b.creates.imageChanged()
	if err != env.OK { // lost: it may have happened
		f.late()
		return
	}
	f.answer = res.(kmsg.Response)
	if f.taken != nil {
		f.taken(f.answer)
	}
}

func (f *relay) late() {
	why := "the controller did not answer"
	f.answer = f.refuse(kafka.RequestTimedOut, &why)
}

// finish sends the answer; what the controller has not decided is out of time.
func (f *relay) finish(b *Broker) {
	if f.answer == nil {
		f.late()
	}
	b.reply(f.origin, f.answer)
}
