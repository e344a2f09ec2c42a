package main

import (
	"fmt"
	"time"

	"stet/bench/load"
)

// begin starts the controller and registers the phantoms.
func (r *imageRun) begin() (string, error) {
	if err := r.controller.start(); err != nil {
		return "", err
	}
	err := eventually(func() (err error) {
		r.cluster, err = r.controller.clusterID()
		return err
	})
	if err != nil {
		return "", err
	}
	for i := range phantoms {
		p, err := register(r.controllerAddr, r.cluster, int32(firstPhantom+i))
		if err != nil {
			return "", err
		}
		r.phantoms = append(r.phantoms, p)
	}
	r.conn, err = load.Dial(r.controllerAddr)
	return fmt.Sprintf("brokers=%d", phantoms), err
}

// create makes all topics, several a request, and times the requests.
func (r *imageRun) create() (string, error) {
	var h load.Histogram
	begin := time.Now()
	for first := 0; first < r.topics; first += topicsInRequest {
		asked := time.Now()
		var names []string
		for i := first; i < min(first+topicsInRequest, r.topics); i++ {
			names = append(names, fmt.Sprintf("topic-%05d", i))
		}
		if err := r.createTopics(r.partitions, names...); err != nil {
			return "", err
		}
		h.Add(time.Since(asked))
	}
	return fmt.Sprintf("topics=%d partitions=%d replicas=%d s=%.2f request_partitions=%d %s", r.topics,
		r.topics*r.partitions, r.replicas, time.Since(begin).Seconds(),
		topicsInRequest*r.partitions, quantiles(&h)), nil
}

// change times changes of one topic with one partition: created, and deleted again.
func (r *imageRun) change() (string, error) {
	// A controller that has just started may have fenced brokers for a while.
	err := eventually(func() error { return r.createTopics(1, "before-changes") })
	if err == nil {
		err = r.deleteTopic("before-changes")
	}
	if err != nil {
		return "", err
	}
	var created, deleted load.Histogram
	for i := range r.changes {
		name, begin := fmt.Sprintf("change-%d", i), time.Now()
		if err := r.createTopics(1, name); err != nil {
			return "", err
		}
		created.Add(time.Since(begin))
		begin = time.Now()
		if err := r.deleteTopic(name); err != nil {
			return "", err
		}
		deleted.Add(time.Since(begin))
	}
	return fmt.Sprintf("changes=%d created: %s deleted: %s", 2*r.changes, quantiles(&created),
		quantiles(&deleted)), nil
}

// fence times how long it takes until a broker that leads a third of the partitions leads none, and
// until it is back.
func (r *imageRun) fence() (string, error) {
	var took []time.Duration
	p := r.phantoms[0]
	if err := p.quiet(); err != nil { // or its heartbeats would have it unfenced again
		return "", err
	}
	defer p.live()
	for _, want := range []bool{true, false} {
		begin := time.Now()
		err := eventually(func() error {
			fenced, err := p.beat(want)
			if err == nil && fenced != want {
				err = fmt.Errorf("fenced: %v", fenced)
			}
			return err
		})
		if err != nil {
			return "", err
		}
		took = append(took, time.Since(begin))
	}
	return fmt.Sprintf("fenced_ms=%.1f unfenced_ms=%.1f", milliseconds(took[0]), milliseconds(took[1])), nil
}

// restart stops the controller and times how long it takes from exec until it acknowledges a change.
func (r *imageRun) restart() (string, error) {
	for _, p := range r.phantoms {
		if err := p.quiet(); err != nil {
			return "", err
		}
	}
	r.conn.Close()
	stopping := time.Now()
	if err := r.controller.stop(); err != nil {
		return "", err
	}
	stopped := time.Since(stopping)
	if err := r.controller.start(); err != nil {
		return "", err
	}
	err := eventually(func() (err error) {
		if r.conn, err = load.Dial(r.controllerAddr); err != nil {
			return err
		}
		if err = r.createTopics(1, "restarted"); err != nil {
			r.conn.Close()
		}
		return err
	})
	took := time.Since(r.controller.begin)
	if err != nil {
		return "", err
	}
	for _, p := range r.phantoms {
		if err := p.resume(r.controllerAddr); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("stopped_s=%.2f first_change_s=%.3f", stopped.Seconds(), took.Seconds()), nil
}

// follow starts a broker and times how long it takes from exec until it tells of every topic.
func (r *imageRun) follow() (string, error) {
	if err := r.broker.start(); err != nil {
		return "", err
	}
	var size int
	err := eventually(func() error {
		c, err := load.Dial(r.brokerAddr)
		if err != nil {
			return err
		}
		defer c.Close()
		topics, bytes, err := metadataOf(c, nil)
		if err == nil && topics < r.topics {
			err = fmt.Errorf("%d topics", topics)
		}
		size = bytes
		return err
	})
	took := time.Since(r.broker.begin)
	if err != nil {
		return "", err
	}
	c, err := load.Dial(r.brokerAddr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	asked := time.Now()
	if _, _, err := metadataOf(c, nil); err != nil {
		return "", err
	}
	answered := time.Since(asked)
	used, err := r.broker.figures()
	return fmt.Sprintf("complete_s=%.3f metadata_bytes=%d metadata_ms=%.1f %s", took.Seconds(), size,
		milliseconds(answered), used), err
}

// spread times how long a creation takes from its request to the controller until the broker tells
// of the topic.
func (r *imageRun) spread() (string, error) {
	c, err := load.Dial(r.brokerAddr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	var h load.Histogram
	for i := range r.changes {
		name, begin := fmt.Sprintf("spread-%d", i), time.Now()
		if err := r.createTopics(1, name); err != nil {
			return "", err
		}
		for there := 0; there == 0; {
			if there, _, err = metadataOf(c, &name); err != nil {
				return "", err
			}
		}
		h.Add(time.Since(begin))
	}
	used, err := r.broker.figures()
	return fmt.Sprintf("changes=%d %s %s", r.changes, quantiles(&h), used), err
}
