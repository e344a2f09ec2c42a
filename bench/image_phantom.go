package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/bench/load"
)

// phantom is a broker as far as a controller can tell: it registers and sends heartbeats, and hosts
// nothing. Replicas are placed on it, which cost memory of the controller only.
type phantom struct {
	id, epoch int64
	conn      *load.Conn
	mu        sync.Mutex // of conn, which the heartbeats share with fence
	stop      chan struct{}
	stopped   sync.WaitGroup
	failure   error
}

const (
	registrationVersion = 4
	heartbeatVersion    = 1
	beatInterval        = time.Second
)

// register makes a phantom and waits until it is unfenced.
func register(controller, cluster string, id int32) (*phantom, error) {
	req := kmsg.NewPtrBrokerRegistrationRequest()
	req.SetVersion(registrationVersion)
	req.BrokerID, req.ClusterID, req.PreviousBrokerEpoch = id, cluster, -1
	rand.Read(req.IncarnationID[:])
	var directory [16]byte
	rand.Read(directory[:])
	req.LogDirs = append(req.LogDirs, directory)
	listener := kmsg.NewBrokerRegistrationRequestListener()
	listener.Name, listener.Host, listener.Port = "PLAINTEXT", "127.0.0.1", 1
	req.Listeners = append(req.Listeners, listener)
	for _, name := range []string{
		"stet.version", "metadata.version", "kraft.version", "group.version", "transaction.version",
		"eligible.leader.replicas.version", "share.version", "streams.version",
	} {
		feature := kmsg.NewBrokerRegistrationRequestFeature()
		feature.Name, feature.MinSupportedVersion, feature.MaxSupportedVersion = name, 0, 100
		if name == "metadata.version" {
			feature.MinSupportedVersion = 1
		}
		req.Features = append(req.Features, feature)
	}
	p := &phantom{id: int64(id)}
	err := eventually(func() error {
		c, err := load.Dial(controller)
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err == nil {
			answer := resp.(*kmsg.BrokerRegistrationResponse)
			p.epoch, p.conn = answer.BrokerEpoch, c
			err = kerr.ErrorForCode(answer.ErrorCode)
		}
		if err != nil {
			c.Close()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("register %d: %w", id, err)
	}
	err = eventually(p.unfence)
	p.live()
	return p, err
}

// unfence sends a heartbeat; that the broker stays fenced is an error.
func (p *phantom) unfence() error {
	fenced, err := p.beat(false)
	if err == nil && fenced {
		err = fmt.Errorf("broker %d is fenced", p.id)
	}
	return err
}

// live sends heartbeats until quiet.
func (p *phantom) live() {
	p.stop = make(chan struct{})
	p.stopped.Go(p.keepAlive)
}

// beat sends one heartbeat.
func (p *phantom) beat(wantFence bool) (fenced bool, err error) {
	req := kmsg.NewPtrBrokerHeartbeatRequest()
	req.SetVersion(heartbeatVersion)
	req.BrokerID, req.BrokerEpoch, req.CurrentMetadataOffset = int32(p.id), p.epoch, math.MaxInt64
	req.WantFence = wantFence
	p.mu.Lock()
	defer p.mu.Unlock()
	resp, err := p.conn.Do(req)
	if err != nil {
		return false, err
	}
	answer := resp.(*kmsg.BrokerHeartbeatResponse)
	return answer.IsFenced, kerr.ErrorForCode(answer.ErrorCode)
}

func (p *phantom) keepAlive() {
	for {
		select {
		case <-p.stop:
			return
		case <-time.After(beatInterval):
		}
		// A busy controller may time a heartbeat out; the next one will do.
		if _, err := p.beat(false); err != nil && !errors.Is(err, kerr.RequestTimedOut) {
			p.failure = fmt.Errorf("broker %d: heartbeat: %w", p.id, err)
			return
		}
	}
}

// quiet ends the heartbeats and returns what they met.
func (p *phantom) quiet() error {
	close(p.stop)
	p.stopped.Wait()
	return p.failure
}

// resume goes on, under the old registration, with a controller that was started anew.
func (p *phantom) resume(controller string) error {
	p.conn.Close()
	err := eventually(func() (err error) {
		if p.conn, err = load.Dial(controller); err != nil {
			return err
		}
		if err = p.unfence(); err != nil {
			p.conn.Close()
		}
		return err
	})
	p.live()
	return err
}

// eventually repeats what fails, for as long as a start may take.
func eventually(try func() error) error {
	var err error
	for deadline := time.Now().Add(imageTimeout); time.Now().Before(deadline); {
		if err = try(); err == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}
