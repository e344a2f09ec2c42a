package crashpoints

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/kafka"
	"stet/sim"
)

// rolled returns the image of the roll script after its last operation, and its topic.
func rolled() (*image, *topicEntry) {
	ops := rehearse(&roll, true, -1, moment{}, nil).window.ops
	e := &enumeration{script: &roll, flushMode: true}
	last := len(ops) - 1
	im := e.crash(&ops[last], last, moment{when: after}).image
	return im, im.ledger.topics[0]
}

func judged(im *image) []string {
	return newTrial(im, copyDisk(im.disk), im.ledger.promises(false, true)).judge()
}

func TestWhatTheJudgeRefuses(t *testing.T) {
	im, _ := rolled()
	require.Empty(t, judged(im))
	for _, c := range []struct {
		name, check string
		spoil       func(*image, *topicEntry)
	}{
		{"a record that was promised is missing", "S1", func(im *image, topic *topicEntry) {
			topic.acked++
		}},
		{"the last segment has decayed", "S1", func(im *image, topic *topicEntry) {
			log := readLog(im.disk, topic.name)
			im.disk.Flip(segmentPath(topic.name, log.Bases[len(log.Bases)-1], ".log"), 70, 3)
		}},
		{"more than a truncation has left", "S2", func(_ *image, topic *topicEntry) {
			topic.endCut(topic.beginCut(3))
		}},
		{"other records than were sent", "S2", func(im *image, topic *topicEntry) {
			path := segmentPath(topic.name, 0, ".log")
			content, _ := im.disk.Bytes(path)
			builder := (&caller{clock: sim.NewClock(sim.NewScheduler(sim.NewTrace(nil)), 1)})
			other := builder.batch(&topicEntry{name: "others", producer: topic.producer}, 0, 3)
			im.disk.Put(path, append(other, content[len(other):]...))
		}},
		{"a recovery point above the end", "S1", func(im *image, topic *topicEntry) {
			im.disk.Put(rootPath(commitlog.RecoveryPointCheckpointName),
				fmt.Appendf(nil, "0\n1\n%s 0 %d\n", topic.name, topic.sent()+1))
		}},
		{"a checkpoint that can not be read", "S3", func(im *image, _ *topicEntry) {
			im.disk.Put(rootPath(commitlog.RecoveryPointCheckpointName), []byte("0\n7\n"))
		}},
		{"a topic that was created is gone", "Q9", func(im *image, topic *topicEntry) {
			lost := *topic
			lost.name, lost.batches, lost.acked, lost.synced = "lost", nil, 0, 0
			im.ledger.topics = append(im.ledger.topics, &lost)
		}},
		{"a topic that was deleted is back", "Q9", func(_ *image, topic *topicEntry) {
			topic.deleteAsked, topic.absent = true, true
		}},
		{"a topic with another id", "Q9", func(_ *image, topic *topicEntry) {
			topic.id[3]++
		}},
		{"a producer id that was given before", "P1", func(im *image, _ *topicEntry) {
			for id := range kafka.ProducerID(10_000) {
				im.ledger.ids = append(im.ledger.ids, id)
			}
		}},
		{"a batch that is not recognised", "P4", func(_ *image, topic *topicEntry) {
			topic.batches[len(topic.batches)-2]++
		}},
		{"a log that ends inside of a batch", "S2", func(_ *image, topic *topicEntry) {
			topic.batches[len(topic.batches)-1]++
		}},
		{"a node that does not start", "L9", func(im *image, _ *topicEntry) {
			im.disk.Put(rootPath(commitlog.MetaPropertiesName), []byte("node.id=7\nversion=1\n"))
		}},
	} {
		im, topic := rolled()
		c.spoil(im, topic)
		failed := judged(im)
		require.NotEmpty(t, failed, c.name)
		require.Equal(t, c.check, failed[0][:2], "%s: %v", c.name, failed)
	}
}

// What a second start must find again can not be spoilt on the disk: here it is what was noted.
func TestASecondStartThatFindsSomethingElseIsRefused(t *testing.T) {
	for _, spoil := range []func(*trial){
		func(tr *trial) { tr.files[0] = "others" },
		func(tr *trial) { tr.states[0] = "another" },
		func(tr *trial) { tr.logs[0] = nil },
	} {
		im, _ := rolled()
		tr := newTrial(im, copyDisk(im.disk), im.ledger.promises(false, true))
		tr.afterFirst = func() { spoil(tr) }
		failed := tr.judge()
		require.NotEmpty(t, failed)
		require.Equal(t, "S4", failed[0][:2])
	}
}

func TestAPanicIsAFindingAndTheNextTrialGoesOn(t *testing.T) {
	im, _ := rolled()
	tr := newTrial(im, copyDisk(im.disk), im.ledger.promises(false, true))
	tr.afterFirst = func() { panic("an assertion") }
	failed := tr.judge()
	require.Len(t, failed, 1)
	require.Contains(t, failed[0], "X1 panic: task trial: an assertion")
	require.Empty(t, judged(im))
}

func TestAnIndexThatLiesIsRefused(t *testing.T) {
	im, topic := rolled()
	log := readLog(im.disk, topic.name)
	require.Empty(t, checkIndexes(im.disk, topic.name, log))
	for _, suffix := range []string{".index", ".timeindex"} {
		d := copyDisk(im.disk)
		require.True(t, d.Flip(segmentPath(topic.name, 0, suffix), 7, 1))
		require.NotEmpty(t, checkIndexes(d, topic.name, log), suffix)
	}
}
