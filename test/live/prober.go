package live

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/bench/load"
)

// prober finds out when a partition can be appended to, with nothing in between: it asks every node at
// once, again and again, and whoever leads acknowledges. What a client adds to an outage (how long it
// waits for a node, when it looks for another) is not in it.
type prober struct {
	cluster   *Cluster
	topic     string
	partition int

	mu      sync.Mutex
	lastAck time.Time
	gap     time.Duration // the longest between two acknowledgements since takeGap
	acked   int
}

const (
	probePause    = 5 * time.Millisecond
	probePatience = 500 * time.Millisecond // with one answer; another connection is tried then
)

// run probes until ctx ends.
func (p *prober) run(ctx context.Context) {
	p.mu.Lock()
	p.lastAck = time.Now()
	p.mu.Unlock()
	var nodes sync.WaitGroup
	for _, b := range p.cluster.Nodes {
		nodes.Go(func() {
			for ctx.Err() == nil {
				p.probe(ctx, b.Address)
				time.Sleep(probePause)
			}
		})
	}
	nodes.Wait()
}

// probe asks one node over one connection until that fails.
func (p *prober) probe(ctx context.Context, address string) {
	dial, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	conn, err := p.cluster.DialContext(dial, "tcp", address)
	if err != nil {
		return
	}
	c := load.NewConn(conn)
	defer c.Close()
	request := load.ProduceRequest(p.topic, p.partition, -1, load.BatchOf([]byte("probe")))
	request.TimeoutMillis = int32(probePatience / time.Millisecond)
	for ctx.Err() == nil {
		if c.SetDeadline(time.Now().Add(probePatience)) != nil {
			return
		}
		res, err := c.Do(request)
		if err != nil {
			return
		}
		if load.ProduceError(res.(*kmsg.ProduceResponse)) == nil {
			p.ack()
		}
		time.Sleep(probePause)
	}
}

func (p *prober) ack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.gap = max(p.gap, now.Sub(p.lastAck))
	p.lastAck = now
	p.acked++
}

// takeGap returns the longest time without an acknowledgement since it was last called.
func (p *prober) takeGap() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	gap := p.gap
	p.gap = 0
	return gap
}
