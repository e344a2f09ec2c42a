package quorum

import (
	crand "crypto/rand"
	"slices"

	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/kafka"
)

// boot recovers and starts.
func (m *member) boot() {
	m.sit()
	m.world.Crash()
	m.owner++
	m.world.Disk.Fail = nil
	m.out.Reset()
	m.asked, m.reading = nil, nil
	job := &RecoverJob{
		Config: &m.c.config, NodeID: kafka.BrokerID(m.place), NewDirectory: m.directory(),
	}
	found := job.Run(m.world.Disk).(*Recovered)
	m.c.judge.recovered(m, found)
	if found.Fresh && m.founders != nil {
		Form(found, m.founders)
	}
	m.state, m.record.applied = parseState(found.Snapshot, found.Start), found.Start.Index
	m.q = New(&m.c.config, m.owner, found, &m.out)
	m.turn()
}

// sit makes raft draw from this member's stream.
func (m *member) sit() { crand.Reader = m.random }

// turn lets the voter run and takes what it brings.
func (m *member) turn() {
	m.sit()
	before := m.q.Members()
	p := m.q.Advance(&m.out)
	if m.q.Failed() != env.OK {
		m.c.count.Failed++
		m.stop(false)
		return
	}
	if s := p.Installed; s != nil {
		m.c.count.Installs++
		m.state = parseState(s.Body, s.At)
		m.c.judge.installed(m, s)
	}
	for i := range p.Committed {
		m.apply(&p.Committed[i])
	}
	m.c.judge.look(m, &before)
	for _, msg := range p.Messages {
		m.c.judge.leaves(m, msg)
		m.c.network = append(m.c.network, packet{from: m.id, to: msg.To, data: msg.Data})
	}
	for _, r := range p.Reads {
		m.confirmed(r)
	}
	if p.Fetch != nil {
		m.c.network = append(m.c.network, packet{from: m.id, to: p.Fetch.From, fetch: p.Fetch})
	}
	if m.q.SnapshotDue() {
		m.q.Snapshot(m.state, &m.out)
	}
	m.world.Perform(&m.out)
}

func (m *member) apply(e *Entry) {
	m.c.judge.applied(m, e)
	m.state = state{e.Index, link(m.state.chain, e)}
}

// link adds an entry to a chain of hashes.
func link(chain uint64, e *Entry) uint64 {
	chain = (chain ^ e.Term ^ uint64(e.Kind)<<60) * 0x9e3779b97f4a7c15
	for _, b := range e.Data {
		chain = (chain ^ uint64(b)) * 0x100000001b3
	}
	return chain ^ chain>>29
}

func (m *member) confirmed(r Read) {
	for i, a := range m.asked {
		if a.id == r.ID {
			m.c.count.Reads++
			if r.Index < a.atLeast {
				violate("Q9", "a read of voter %d sees %d, and %d was committed", m.id, r.Index, a.atLeast)
			}
			m.asked = slices.Delete(m.asked, i, i+1)
			return
		}
	}
	violate("Q9", "voter %d confirms a read that nobody asked for", m.id)
}

// stop ends the process; power says that it is the machine's end.
func (m *member) stop(power bool) {
	if m.q != nil {
		m.record.dies(m)
	}
	m.q = nil
	if power {
		m.world.Disk.LosePower()
	} else {
		m.world.Disk.Kill()
	}
	m.world.Crash()
	m.out.Reset()
}

// work performs one effect of a disk, which may be cut off inside of it.
func (m *member) work(tear bool) {
	if tear {
		m.world.Disk.Fuse = m.c.rand.IntN(4)
	}
	var ev env.Event
	ok := false
	if !logtest.Attempt(func() { ev, ok = m.world.Step() }) {
		m.c.count.Crashes++
		m.stop(m.c.rand.IntN(2) == 0)
		return
	}
	m.world.Disk.Fuse = -1
	if !ok || m.q == nil || ev.Token == 0 && ev.Err == env.OK {
		return
	}
	if part, is := ev.Res.(SnapshotPart); is {
		m.answer(ev.Token, &part)
	}
	m.q.Handle(&ev, &m.out)
	m.turn()
}

// answer sends a piece of a snapshot to whoever asked for it.
func (m *member) answer(token env.Token, part *SnapshotPart) {
	for i, r := range m.reading {
		if r.token == token {
			m.reading = slices.Delete(m.reading, i, i+1)
			m.c.network = append(m.c.network, packet{from: m.id, to: r.to, chunk: &SnapshotChunk{
				At: part.At, Offset: part.Offset, Data: part.Data, Size: part.Size, Gone: part.Gone,
			}})
			return
		}
	}
}
