package partition_test

import (
	"time"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/core/record"
)

// message is a request or an answer under way. It may be lost, or arrive late, or twice.
type message struct {
	arrive func()
	lost   func() // nil: nobody is told
	once   bool
	after  env.Mono // it does not arrive before
}

func (m *model) send(msg message) { m.network = append(m.network, msg) }

// deliver lets one message of any age arrive. One that arrives again may take its time.
func (m *model) deliver() {
	if len(m.network) == 0 {
		return
	}
	i := m.rand.IntN(len(m.network))
	msg := m.network[i]
	if msg.after > m.now.Mono && !m.calm {
		return
	}
	if m.calm || msg.once || m.rand.IntN(100) >= m.pace.repeat {
		m.network = append(m.network[:i], m.network[i+1:]...)
	} else {
		m.network[i].after = m.now.Mono.Add(time.Duration(m.rand.IntN(m.pace.late)) * time.Millisecond)
	}
	if !m.calm && m.rand.IntN(100) < m.pace.lose {
		if msg.lost != nil {
			msg.lost()
		}
		return
	}
	msg.arrive()
}

// fetch sends what a follower asks.
func (n *node) fetch() {
	at, ok := n.replica.FetchPosition()
	if !ok || n.asking > 1 || n.asking == 1 && (n.model.calm || n.model.rand.IntN(8) > 0) {
		return
	}
	n.asking++
	following, _ := n.replica.Following()
	life, leader := n.life, n.model.nodes[following.Leader-1]
	w := partition.FollowerFetch{
		Broker: n.id, BrokerEpoch: n.epoch, Offset: at.Offset, LogStart: at.LogStart,
		HighWatermark: at.HighWatermark, LastFetchedEpoch: at.LastFetchedEpoch,
		CurrentLeaderEpoch: at.LeaderEpoch, Synced: at.Synced, MaxBytes: 1 + n.model.rand.Int64N(400), MinOne: true,
	}
	done := func() {
		if n.life == life && n.asking > 0 {
			n.asking--
		}
	}
	n.model.send(message{
		lost: done,
		arrive: func() {
			if leader.replica == nil || leader.image == nil {
				done()
				return
			}
			leader.answer(w, func(f *partition.Fetched) {
				done()
				if n.life == life && n.replica != nil {
					n.replica.Fetched(n.model.now, at, f, &n.out)
					n.tend()
				}
			}, done)
		},
	})
}

// answer reads for a follower and sends what it finds. Below the high watermark the bytes are read when
// the answer arrives, under a lease; what is above is a copy.
func (n *node) answer(w partition.FollowerFetch, arrive func(*partition.Fetched), lost func()) {
	known := &n.image.brokers[w.Broker]
	w.Eligible = n.image.active(w.Broker) && known.epoch == w.BrokerEpoch
	read := partition.RefusedRead(kafka.NotLeaderOrFollower)
	if w.BrokerEpoch == known.epoch {
		read = n.replica.ReadForFollower(n.model.now, w, &n.out)
		n.tend()
	}
	f := partition.Fetched{
		Code: read.Code, HighWatermark: read.HighWatermark, LogStart: read.LogStartOffset,
		Diverging: read.Diverging,
	}
	name := logName + "/" + commitlog.FileName(read.Found.Segment, ".log")
	bytes := func() []byte {
		content := n.world.Disk.Content(name)
		return append([]byte(nil), content[read.Found.Off:read.Found.Off+read.Found.Len]...)
	}
	if read.Found.Len == 0 {
		n.model.send(message{arrive: func() { arrive(&f) }, lost: lost})
		return
	}
	if read.Copy {
		data := bytes()
		n.model.send(message{arrive: func() { n.model.receive(&f, data); arrive(&f) }, lost: lost})
		return
	}
	life, replica := n.life, n.replica
	replica.Handles().Lease(read.Found.File)
	release := func() {
		if n.life == life && n.replica == replica {
			replica.Handles().Release(read.Found.File, &n.out)
			replica.OnLeasesReturned(&n.out)
			n.tend()
		}
	}
	n.model.send(message{
		once: true,
		lost: func() { release(); lost() },
		arrive: func() {
			if n.life != life || n.replica != replica {
				lost()
				return
			}
			n.model.receive(&f, bytes())
			release()
			arrive(&f)
		},
	})
}

// receive takes the batches of an answer apart, as the reader of a link does, and may damage them.
func (m *model) receive(f *partition.Fetched, data []byte) {
	f.Batches, f.Data, f.Corrupt = nil, nil, false
	for len(data) > 0 {
		v := record.View(data)
		size := v.SizeBytes()
		batch := append([]byte(nil), data[:size]...)
		data = data[size:]
		if !m.calm && m.rand.IntN(60) == 0 {
			switch m.rand.IntN(3) {
			case 0:
				batch[len(batch)-1] ^= 1
			case 1:
				batch[12] ^= 0x40 // the leader epoch, which the CRC does not cover
			case 2:
				batch[7] ^= 2 // the base offset, likewise
			}
		}
		facts := m.scratch.Examine(batch, 1<<20)
		f.Batches = append(f.Batches, facts)
		f.Data = append(f.Data, env.BufRef{Data: batch})
	}
}

// propose sends a proposal of a leader to the controller.
func (n *node) propose() {
	p, ok := n.replica.TakeProposal()
	if !ok {
		return
	}
	life := n.life
	back := func(a partition.ISRAnswer) {
		if n.life == life && n.replica != nil {
			n.replica.ProposalAnswered(a, &n.out)
			n.tend()
		}
	}
	lost := partition.ISRAnswer{
		Proposal: partition.ISRVersion{LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch},
		Code:     kafka.NetworkException,
	}
	fail := func() { back(lost) }
	n.model.send(message{once: true, lost: fail, arrive: func() {
		a := n.model.controller.alter(n.id, p)
		n.model.send(message{lost: fail, arrive: func() { back(a) }})
	}})
}
