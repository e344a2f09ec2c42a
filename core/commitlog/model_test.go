package commitlog

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/record"
)

// modelProducer is a client that sends in order, and sends again what it got no answer to.
type modelProducer struct {
	epoch kafka.ProducerEpoch
	sent  []batch // in this epoch, appended or pending
}

// machine is a log, the list of batches it has accepted, and the clients.
type machine struct {
	*harness
	rt        *rapid.T
	producers [3]modelProducer
	ends      struct{ assigned, written, synced kafka.Offset }
	clock     int64
}

// TestLogSurvivesEverySequenceOfAppendsAndCrashes draws sequences anew in each round: one round may
// by chance miss a rare path, twenty do not.
func TestLogSurvivesEverySequenceOfAppendsAndCrashes(t *testing.T) {
	invariant.ResetMarks()
	defer requireRarePaths(t)
	for round := 0; round < 20 && !t.Failed() && (round == 0 || len(missedPaths()) > 0); round++ {
		checkSequences(t)
	}
}

func checkSequences(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		config := tinyConfig()
		config.FlushMessages = rapid.SampledFrom([]int64{1, 3, 1 << 40}).Draw(rt, "flush")
		config.SegmentBytes = rapid.Int32Range(200, 1500).Draw(rt, "segment")
		config.IndexIntervalBytes = rapid.Int32Range(0, 300).Draw(rt, "interval")
		m := &machine{
			harness: newHarness(rt, rapid.Uint64().Draw(rt, "seed"), config),
			rt:      rt,
		}
		m.point = rapid.SampledFrom([]kafka.Offset{0, 7, 1000}).Draw(rt, "checkpoint of an earlier life")
		m.create()
		m.open()
		rt.Repeat(map[string]func(*rapid.T){
			"append":     func(*rapid.T) { m.appendPlain() },
			"produce":    func(*rapid.T) { m.produce() },
			"produce2":   func(*rapid.T) { m.produce() },
			"retry":      func(*rapid.T) { m.retry() },
			"step":       func(*rapid.T) { m.steps() },
			"step2":      func(*rapid.T) { m.steps() },
			"settle":     func(*rapid.T) { m.settle() },
			"checkpoint": func(*rapid.T) { m.point = m.log.RecoveryPoint() },
			"kill":       func(*rapid.T) { m.restart(false) },
			"power loss": func(*rapid.T) { m.restart(true) },
			"disk fault": func(*rapid.T) { m.fault() },
			"truncate":   func(*rapid.T) { m.truncate() },
			"clean stop": func(*rapid.T) { m.stop() },
			"read":       func(*rapid.T) { m.readSomething() },
			"time":       func(*rapid.T) { m.readByTime() },
			"":           func(*rapid.T) { m.check() },
		})
	})
}

func (m *machine) appendPlain() {
	m.clock += rapid.Int64Range(-5, 20).Draw(m.rt, "timestamp")
	count := rapid.IntRange(1, 4).Draw(m.rt, "count")
	m.mustAppend(plain(count, max(m.clock, 0), "x"))
}

func (m *machine) produce() {
	id := rapid.IntRange(0, 2).Draw(m.rt, "producer")
	p := &m.producers[id]
	b := batch{
		count: rapid.IntRange(1, 3).Draw(m.rt, "count"), producer: kafka.ProducerID(id),
		epoch: p.epoch, timestamp: m.clock, value: "p",
	}
	if n := len(p.sent); n > 0 {
		b.sequence = p.sent[n-1].sequence.Add(int32(p.sent[n-1].count))
	} else if p.epoch == 0 {
		b.sequence = kafka.Sequence(1<<31 - 1 - 3) // an unknown producer may begin anywhere
	}
	require.False(m.t, m.mustAppend(b).Duplicate)
	p.sent = append(p.sent, b)
}

// retry sends one of the last five batches again: it must be a duplicate with its first offset.
func (m *machine) retry() {
	id := rapid.IntRange(0, 2).Draw(m.rt, "producer")
	p := &m.producers[id]
	if len(p.sent) == 0 {
		return
	}
	i := rapid.IntRange(max(0, len(p.sent)-ProducerWindow), len(p.sent)-1).Draw(m.rt, "which")
	a := m.mustAppend(p.sent[i])
	require.True(m.t, a.Duplicate)
	found := false
	for _, data := range m.accepted {
		v := record.View(data)
		if v.ProducerID() == kafka.ProducerID(id) && v.BaseSequence() == p.sent[i].sequence &&
			v.ProducerEpoch() == p.epoch && v.BaseOffset() == a.BaseOffset {
			found = true
			require.Equal(m.t, a.LastOffset, v.LastOffset())
			require.Equal(m.t, a.Pending, v.LastOffset() >= m.log.Written())
		}
	}
	require.True(m.t, found, "a duplicate is answered with the offset of its original")
}

func (m *machine) steps() {
	for range rapid.IntRange(1, 8).Draw(m.rt, "steps") {
		m.step()
	}
}

// restart ends the process at this moment and recovers, perhaps with crashes on the way.
func (m *machine) restart(power bool) {
	written, synced, assigned := m.log.Written(), m.log.Synced(), m.log.Assigned()
	live := m.log.DerivedState()
	m.crash(power)
	least := written
	for rapid.IntRange(0, 3).Draw(m.rt, "again") == 0 {
		m.world.Disk.Fuse = rapid.IntRange(0, 60).Draw(m.rt, "fuse")
		logtest.Attempt(func() { m.recover() })
		powerAgain := rapid.Bool().Draw(m.rt, "power again")
		power = power || powerAgain
		if powerAgain {
			m.world.Disk.LosePower()
		} else {
			m.world.Disk.Kill()
		}
	}
	m.world.Disk.Fuse = -1
	if power {
		least = synced
	}
	r := m.open()
	require.GreaterOrEqual(m.t, r.End, least, "what was promised stands")
	require.LessOrEqual(m.t, r.End, assigned)
	if r.End == written {
		require.Equal(m.t, live.Canonical(), r.DerivedState().Canonical(), "live state equals replay")
	}
	m.afterRestart(r)
}

// fault lets one operation of the disk fail, soon. The log must fence itself and come back with
// everything that was written, or not have noticed.
func (m *machine) fault() {
	left := rapid.IntRange(0, 20).Draw(m.rt, "operations until the fault")
	m.world.Disk.Fail = func(op, name string) env.Errno {
		left--
		if left == -1 {
			return env.EIO
		}
		return env.OK
	}
	m.appendPlain()
	m.settle()
	m.world.Disk.Fail = nil
	if !m.log.Fenced() {
		return
	}
	_, code := m.append(plain(1, 0, "refused"))
	require.Equal(m.t, kafka.KafkaStorageError, code)
	written, assigned := m.log.Written(), m.log.Assigned()
	m.reopen()
	r := m.open()
	require.GreaterOrEqual(m.t, r.End, written)
	require.LessOrEqual(m.t, r.End, assigned)
	m.afterRestart(r)
}

// reopen leaves a fenced log.
func (m *machine) reopen() {
	require.True(m.t, m.log.Quiescent())
	m.log.Abandon(&m.out)
	m.settle()
}

// truncate cuts the log as a follower does whose suffix has diverged.
func (m *machine) truncate() {
	m.settle()
	to := kafka.Offset(rapid.Int64Range(0, int64(m.log.Written())).Draw(m.rt, "truncate to"))
	m.log.Fence(env.EOther)
	m.reopen()
	job := m.recoverJob()
	job.TruncateTo = to
	r := job.Run(m.world.Disk).(*Recovered)
	require.NoError(m.t, r.Err)
	require.LessOrEqual(m.t, r.End, to)
	first := m.countBelow(r.End)
	if first < len(m.accepted) {
		next := record.View(m.accepted[first])
		require.Greater(m.t, next.NextOffset(), to, "no more is cut than has to be")
	}
	again := m.open()
	require.Equal(m.t, r.DerivedState().Canonical(), again.DerivedState().Canonical())
	m.afterRestart(again)
}

func (m *machine) stop() {
	m.closeCleanly()
	live := m.log.DerivedState()
	r := m.open()
	require.Equal(m.t, live.Canonical(), r.DerivedState().Canonical(), "live state equals replay")
	require.Zero(m.t, r.Scanned)
	m.afterRestart(r)
}

// afterRestart compares what recovery derived with the model, recovers once more, and lets the
// clients forget what the log has lost.
func (m *machine) afterRestart(r *Recovered) {
	same := bytes.Equal(bytes.Join(m.accepted, nil), m.logBytes())
	require.True(m.t, same, "files hold the accepted prefix")
	state := r.DerivedState()
	var want epochCache
	replayed := newProducers()
	for _, data := range m.accepted {
		v := record.View(data)
		want.assign(v.LeaderEpoch(), v.BaseOffset())
		var scratch record.Scratch
		facts := scratch.Examine(data, 1<<20)
		if facts.HasProducer() {
			replayed.replay(updateOf(&facts, v.BaseOffset(), v.MaxTimestamp()))
		}
	}
	require.Equal(m.t, []EpochEntry(want), state.Epochs[:len(state.Epochs):len(state.Epochs)])
	require.Equal(m.t, replayed.entries(), state.Producers, "windows of five survive")

	again := m.recover()
	require.NoError(m.t, again.Err)
	require.Equal(m.t, state.Canonical(), again.DerivedState().Canonical(), "recovery is idempotent")

	for id := range m.producers {
		p := &m.producers[id]
		p.epoch++
		p.sent = nil
	}
	m.ends.assigned, m.ends.written, m.ends.synced = 0, 0, 0
}

// check holds after every step.
func (m *machine) check() {
	l := m.log
	require.False(m.t, l.Fenced())
	require.LessOrEqual(m.t, l.LogStartOffset(), l.Synced())
	require.LessOrEqual(m.t, l.Synced(), l.Written())
	require.LessOrEqual(m.t, l.Written(), l.Assigned())
	require.LessOrEqual(m.t, l.RecoveryPoint(), l.Synced())
	require.GreaterOrEqual(m.t, l.Assigned(), m.ends.assigned)
	require.GreaterOrEqual(m.t, l.Written(), m.ends.written)
	require.GreaterOrEqual(m.t, l.Synced(), m.ends.synced)
	m.ends.assigned, m.ends.written, m.ends.synced = l.Assigned(), l.Written(), l.Synced()
}

// readSomething reads a range and compares it with the accepted batches.
func (m *machine) readSomething() {
	written := m.log.Written()
	if written == 0 {
		return
	}
	offset := kafka.Offset(rapid.Int64Range(0, int64(written)-1).Draw(m.rt, "offset"))
	maxBytes := rapid.Int64Range(0, 1000).Draw(m.rt, "max bytes")
	minOne := rapid.Bool().Draw(m.rt, "min one")
	upTo := kafka.Offset(rapid.Int64Range(0, int64(written)+1).Draw(m.rt, "up to"))
	f := m.find(offset, maxBytes, minOne, upTo)
	if f.Len == 0 {
		return
	}
	got := m.file(name(f.Segment, logSuffix))[f.Off : f.Off+f.Len]
	first, rest, problem := record.First(got)
	require.Equal(m.t, record.NoProblem, problem)
	require.LessOrEqual(m.t, first.BaseOffset(), offset)
	require.Greater(m.t, first.NextOffset(), offset)
	require.Equal(m.t, f.Start, first.BaseOffset())
	require.True(m.t, f.Len <= maxBytes || minOne && len(rest) == 0)
	last := first
	for len(rest) > 0 {
		last, rest, problem = record.First(rest)
		require.Equal(m.t, record.NoProblem, problem, "a range ends on a boundary")
	}
	require.Equal(m.t, f.End, last.NextOffset())
	require.LessOrEqual(m.t, f.End, min(upTo, m.log.Written()))
}

// readByTime compares a look-up by time with a scan of the accepted batches.
func (m *machine) readByTime() {
	upTo := kafka.Offset(rapid.Int64Range(0, int64(m.log.Written())).Draw(m.rt, "up to"))
	timestamp := rapid.Int64Range(0, max(m.clock, 0)+10).Draw(m.rt, "timestamp")
	var scratch record.Scratch
	first := notFound()
	largest := first
	for _, data := range m.accepted {
		v := record.View(data)
		if v.NextOffset() > upTo {
			break
		}
		scratch.Records(data, 1<<20, func(r record.Record) bool {
			found := TimeFound{Offset: r.Offset, Timestamp: r.Timestamp, Epoch: v.LeaderEpoch()}
			if first.Offset < 0 && r.Timestamp >= timestamp {
				first = found
			}
			if r.Timestamp > largest.Timestamp {
				largest = found
			}
			return true
		})
	}
	require.Equal(m.t, first, m.findTime(timestamp, upTo))
	require.Equal(m.t, largest, m.findTime(kafka.MaxTimestamp, upTo))
}

// requireRarePaths fails when the machine has become too tame.
func requireRarePaths(t *testing.T) { require.Empty(t, missedPaths()) }

// missedPaths lists the rare paths that no sequence has taken so far.
func missedPaths() (missed []string) {
	hits := marks()
	for _, name := range []string{
		"recovery cuts a torn tail", "recovery starts over an interrupted recovery",
		"recovery loads a producer snapshot", "a log opens after a clean stop",
		"a log is fenced after a failed write or sync",
		"a duplicate batch is answered with its first offset",
		"a duplicate arrives while its original is being written",
		"a fetch position is looked up in an index",
		"a fetch returns one batch larger than its limit",
	} {
		if hits[name] == 0 {
			missed = append(missed, name)
		}
	}
	return missed
}
