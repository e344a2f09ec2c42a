package broker

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/wire"
)

// fetchLease holds the files that an answer on its way reads. It is reused.
type fetchLease struct {
	files []leasedFile
}

type leasedFile struct {
	host *hosted
	file env.FileID
}

// completed returns the leases when the answer has left, or died.
func (l *fetchLease) completed(b *Broker, _ *env.Event) {
	for _, f := range l.files {
		f.host.Handles().Release(f.file, b.out)
		f.host.OnLeasesReturned(b.out)
		b.afterReplica(f.host)
	}
	clear(l.files)
	l.files = l.files[:0]
	b.Metrics.LeasesOut--
	b.fetches.leases = append(b.fetches.leases, l)
}

func (l *fetchLoop) lease() *fetchLease {
	if n := len(l.leases); n > 0 {
		lease := l.leases[n-1]
		l.leases = l.leases[:n-1]
		return lease
	}
	return &fetchLease{}
}

// answer answers with what the last evaluation found.
func (w *fetchWait) answer(b *Broker) {
	w.finish(b)
	s := w.session
	if w.conn.closed {
		if s.id == noSession {
			s.close()
		}
		return
	}
	m := &b.fetchResponse
	m.Reset()
	m.SessionID = s.id
	hosts := w.addAnswers(b, m)
	start := b.out.Mark()
	b.out.Bytes = m.AppendTo(b.out.Bytes, w.version, w.correlation)
	b.respond(w.origin, start)
	b.addRanges(m, hosts)
	b.Metrics.FetchesAnswered++
	if s.id == noSession {
		s.close()
	}
}

// answered is a partition of an answer, in the order of the answer.
type answeredPartition struct {
	host *hosted
	file env.FileID
	off  int64
	copy bool
}

// addAnswers adds what the answer says of each partition: of all in a full answer, else of those
// in the queue that have something to say.
func (w *fetchWait) addAnswers(b *Broker, m *wire.FetchResponse) []answeredPartition {
	s := w.session
	b.answers = b.answers[:0]
	var last *fetchPartition
	if s.full {
		for _, p := range s.list {
			last = w.addAnswer(b, m, p, last)
		}
	} else {
		p := s.first
		for n := s.queued; n > 0; n-- {
			next := p.next
			if p.read.emit {
				last = w.addAnswer(b, m, p, last)
			}
			p = next
		}
	}
	return b.answers
}

// addAnswer adds one partition and notes what the client now knows.
func (w *fetchWait) addAnswer(b *Broker, m *wire.FetchResponse, p, last *fetchPartition,
) *fetchPartition {
	if last == nil || last.key.id != p.key.id || last.key.name != p.key.name {
		m.AddTopic(p.key.name, p.key.id)
	}
	read := &p.read
	out := m.AddPartition(p.key.partition)
	out.Error = read.Code
	out.HighWatermark = read.HighWatermark
	out.LastStableOffset = read.LastStableOffset
	out.LogStartOffset = read.LogStartOffset
	out.RecordBytes = read.Found.Len
	out.DivergingEpoch = wire.DivergingEpoch(read.Diverging)
	if read.Code == kafka.NotLeaderOrFollower || read.Code == kafka.FencedLeaderEpoch {
		w.addLeader(b, m, out, p)
	}
	b.answers = append(b.answers, answeredPartition{read.host, read.Found.File, read.Found.Off, read.Copy})
	p.told(read)
	p.read = fetchRead{}
	return p
}

func (w *fetchWait) addLeader(b *Broker, m *wire.FetchResponse, out *wire.FetchedPartition,
	p *fetchPartition,
) {
	id := p.key.id
	if !w.session.usesIDs {
		topic := b.image.Topic(p.key.name)
		if topic == nil {
			return
		}
		id = topic.ID
	}
	out.CurrentLeader = b.leaderHint(w.conn.info, id, p.key.partition, &m.Endpoints)
}

// told notes what the client knows from now on. After an error it knows nothing, so that the
// partition is named again. One that gave data goes to the end of the queue; one that has data
// which did not fit keeps its place.
func (p *fetchPartition) told(read *fetchRead) {
	s := p.session
	if read.Code != kafka.None {
		p.toldHighWatermark, p.toldLogStartOffset = -1, -1
		s.queue(p)
		return
	}
	p.toldHighWatermark, p.toldLogStartOffset = read.HighWatermark, read.LogStartOffset
	if s.privileged {
		p.toldFollower(read)
		return
	}
	if read.Found.Len > 0 {
		s.unqueue(p)
		s.queue(p)
	} else if p.want.offset >= read.HighWatermark {
		s.unqueue(p)
	}
}

// addRanges adds the ranges of files to the answer that was just emitted, and leases them.
func (b *Broker) addRanges(m *wire.FetchResponse, answers []answeredPartition) {
	op := &b.out.Conn[len(b.out.Conn)-1]
	op.Ranges.Start = uint32(len(b.out.Ranges))
	var lease *fetchLease
	for i := range m.Partitions {
		p := &m.Partitions[i]
		if p.RecordBytes == 0 {
			continue
		}
		a := &answers[i]
		if lease == nil {
			lease = b.fetches.lease()
		}
		b.out.Ranges = append(b.out.Ranges, env.Range{
			File: a.file, At: p.RecordsAt, Off: a.off,
			Len: p.RecordBytes, Copy: a.copy,
		})
		a.host.Handles().Lease(a.file)
		a.host.Counters.BytesOut += p.RecordBytes
		b.Metrics.FetchBytesOut += p.RecordBytes
		lease.files = append(lease.files, leasedFile{a.host, a.file})
	}
	op.Ranges.End = uint32(len(b.out.Ranges))
	if lease != nil {
		op.Token = b.nextToken(lease)
		b.Metrics.LeasesOut++
	}
	invariant.Always(len(answers) == len(m.Partitions), "every answer has its partition")
}

// refuseFetch answers a fetch that has no session.
func (b *Broker) refuseFetch(o origin, code kafka.ErrorCode) {
	m := &b.fetchResponse
	m.Reset()
	m.Error = code
	start := b.out.Mark()
	b.out.Bytes = m.AppendTo(b.out.Bytes, o.version, o.correlation)
	b.respond(o, start)
}
