package commitlog

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
	"stet/core/record"
)

const testDir = "orders-0"

// tb is what both testing.T and rapid.T are.
type tb interface {
	Errorf(format string, args ...any)
	FailNow()
	Helper()
}

// harness drives one log through a logtest.World.
type harness struct {
	t       tb
	world   *logtest.World
	config  *Config
	handles *Handles
	log     *Log
	out     env.Effects
	now     env.Now
	epoch   kafka.LeaderEpoch

	clean    bool         // the log was closed cleanly
	point    kafka.Offset // recovery point as checkpointed
	logStart kafka.Offset

	accepted [][]byte // batches as the log must hold them, in order
	bases    []kafka.Offset

	held []env.FileOp // effects that a test has not completed yet
}

func newHarness(t tb, seed uint64, config Config) *harness {
	return &harness{
		t:       t,
		world:   logtest.NewWorld(rand.New(rand.NewPCG(seed, 1))),
		config:  &config,
		handles: NewHandles(0, 7),
		now:     env.Now{WallMs: 1_000_000},
	}
}

// tinyConfig makes everything happen within a few batches.
func tinyConfig() Config {
	c := DefaultConfig()
	c.SegmentBytes = 600
	c.IndexIntervalBytes = 150
	c.IndexWriteEntries = 1
	return c
}

var testTopicID = kafka.TopicID{1, 2, 3}

func (h *harness) path() env.Path { return env.Path{Name: testDir} }

func (h *harness) create() {
	h.t.Helper()
	require.Nil(h.t, (&CreateJob{Path: h.path(), TopicID: testTopicID}).Run(h.world.Disk))
}

func (h *harness) recoverJob() *RecoverJob {
	return &RecoverJob{
		Path: h.path(), TopicID: testTopicID, Config: h.config, Clean: h.clean,
		RecoveryPoint: h.point, LogStart: h.logStart, TruncateTo: kafka.NoOffset,
	}
}

func (h *harness) recover() *Recovered {
	h.t.Helper()
	return h.recoverJob().Run(h.world.Disk).(*Recovered)
}

func (h *harness) open() *Recovered {
	h.t.Helper()
	r := h.recover()
	require.NoError(h.t, r.Err)
	require.True(h.t, r.Usable())
	h.clean = false
	h.log = Open(h.handles, testDir, h.config, r, &h.out)
	h.settle()
	require.True(h.t, h.log.Ready())
	h.accepted = h.accepted[:h.countBelow(r.End)]
	h.bases = h.bases[:len(h.accepted)]
	h.epoch++
	h.log.AssignEpoch(h.epoch)
	return r
}

// started returns a harness with an open, empty log.
func started(t *testing.T, config Config) *harness {
	h := newHarness(t, 1, config)
	h.create()
	h.open()
	return h
}

// countBelow returns how many accepted batches end at or before end, which must be a boundary.
func (h *harness) countBelow(end kafka.Offset) int {
	h.t.Helper()
	n := 0
	for n < len(h.accepted) && record.View(h.accepted[n]).NextOffset() <= end {
		n++
	}
	at := kafka.Offset(0)
	if n > 0 {
		at = record.View(h.accepted[n-1]).NextOffset()
	}
	require.Equal(h.t, at, end, "the log must end on the boundary of an accepted batch")
	return n
}

// step performs one effect and passes its completion on.
func (h *harness) step() bool {
	h.world.Perform(&h.out)
	ev, ok := h.world.Step()
	if !ok {
		return false
	}
	if ev.Token == 0 {
		return true
	}
	if ev.Kind == env.EventJobDone {
		require.True(h.t, h.log.OnJobDone(&ev, &h.out), "every job is the log's")
	} else {
		require.True(h.t, h.log.OnFileDone(&ev, &h.out), "every completion is the log's")
	}
	return true
}

// settle performs everything.
func (h *harness) settle() {
	for h.step() {
	}
}

// batch is what a test appends.
type batch struct {
	count     int
	producer  kafka.ProducerID
	epoch     kafka.ProducerEpoch
	sequence  kafka.Sequence
	timestamp int64
	value     string
}

func plain(count int, timestamp int64, value string) batch {
	return batch{
		count: count, producer: kafka.NoProducerID, epoch: kafka.NoProducerEpoch,
		sequence: kafka.NoSequence, timestamp: timestamp, value: value,
	}
}

func (b batch) build() []byte {
	spec := record.Plain()
	spec.ProducerID, spec.ProducerEpoch, spec.BaseSequence = b.producer, b.epoch, b.sequence
	builder := record.Builder{Spec: spec}
	for i := range b.count {
		builder.Add(record.Record{Timestamp: b.timestamp + int64(i), Value: []byte(b.value)})
	}
	return builder.Build(nil, nil)
}

// append appends a batch and returns the log's answer.
func (h *harness) append(b batch) (Appended, kafka.ErrorCode) {
	data := b.build()
	var scratch record.Scratch
	facts := scratch.Examine(data, 1<<20)
	require.Equal(h.t, record.NoProblem, facts.Problem)
	a, code := h.log.Append(h.now, &facts, env.BufRef{Data: data}, h.epoch, &h.out)
	if code == kafka.None && !a.Duplicate {
		op := h.out.File[len(h.out.File)-1]
		require.Equal(h.t, env.FileWrite, op.Op)
		record.Stamp(data, op.Patch)
		h.accepted = append(h.accepted, data)
		h.bases = append(h.bases, a.BaseOffset)
	}
	return a, code
}

func (h *harness) mustAppend(b batch) Appended {
	h.t.Helper()
	a, code := h.append(b)
	require.Equal(h.t, kafka.None, code)
	return a
}

// crash ends the process.
func (h *harness) crash(power bool) {
	h.world.Perform(&h.out)
	h.world.Crash()
	if power {
		h.world.Disk.LosePower()
	} else {
		h.world.Disk.Kill()
	}
}

// closeCleanly closes the log as a clean stop does.
func (h *harness) closeCleanly() {
	h.log.Close(&h.out)
	h.settle()
	require.False(h.t, h.log.Fenced())
	require.True(h.t, h.log.Closed())
	h.point, h.clean = h.log.RecoveryPoint(), true
	require.Equal(h.t, h.log.Assigned(), h.point)
}

// file returns the content of a file of the replica.
func (h *harness) file(name string) []byte { return h.world.Disk.Content(testDir + "/" + name) }

// logBytes joins the segment files.
func (h *harness) logBytes() []byte {
	var all []byte
	for _, name := range h.world.Disk.Names(testDir) {
		if _, suffix, ok := splitName(name); ok && suffix == logSuffix {
			all = append(all, h.file(name)...)
		}
	}
	return all
}

// find is Find with a Locate in between if it is needed.
func (h *harness) find(offset kafka.Offset, maxBytes int64, minOne bool, upTo kafka.Offset) Found {
	h.t.Helper()
	for range 2 {
		f, code := h.log.Find(offset, maxBytes, minOne, upTo)
		require.Equal(h.t, kafka.None, code)
		if !f.Locate {
			return f
		}
		h.log.Locate(offset, &h.out)
		h.settle()
	}
	require.Fail(h.t, "a Find after a Locate must succeed", "offset %d", offset)
	return Found{}
}

// findTime runs a FindByTime job.
func (h *harness) findTime(timestamp int64, upTo kafka.Offset) TimeFound {
	h.t.Helper()
	found := h.log.FindByTime(timestamp, upTo, 1<<20).Run(h.world.Disk).(TimeFound)
	require.NoError(h.t, found.Err)
	return found
}

func marks() map[string]uint64 {
	hits := map[string]uint64{}
	for _, m := range invariant.Marks() {
		hits[m.Name] = m.Hits
	}
	return hits
}

func name(offset kafka.Offset, suffix string) string { return FileName(offset, suffix) }

func values(n int) string { return fmt.Sprintf("value-%0*d", n, n) }

func examine(data []byte) record.Facts {
	var scratch record.Scratch
	return scratch.Examine(data, 1<<20)
}

func bufOf(data []byte) env.BufRef { return env.BufRef{Data: data} }
