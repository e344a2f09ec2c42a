package crashpoints

import (
	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/node"
	"stet/sim"
)

// truncate cuts a log of four segments in the middle of the second one, as a follower does whose
// leader has less. No node of one truncates, so the job runs by itself, as it would in a node. In the
// window are: the mark, the deletion of two segments, the cut of the second one, the rewriting
// of its indexes and of the epoch checkpoint, and all their syncs; then the start of a node, whose
// checkpoint still names a recovery point above the end, and a roll up to that point with other
// records. A node that knows nothing of a truncation that was crashed has a log that ends somewhere
// between; after one that has ended, nothing of what it cut comes back.
var truncate = Script{
	Name:  "truncate",
	About: "a truncation to the middle of the second of four segments, and new records after it",
	configure: func(c *node.Config) {
		smallSegments(c)
		c.Broker.CheckpointInterval = sim.Second.Duration()
	},
	play: func(t *stage) {
		t.start()
		t.create("orders")
		t.identify("orders")
		t.produce("orders", 3, 3, 2)
		t.produce("orders", 4, 1)
		t.produce("orders", 5, 5)
		t.awaitCheckpoint() // it names the beginning of the last segment: more than will be left
		t.kill()
		t.openWindow()
		t.truncate("orders", 12)
		t.start()
		t.produce("orders", 2, 4, 3)
		t.closeWindow()
	},
}

// tornTail starts a node on what a power loss has torn: the last batch of a segment has lost its
// end, and of the next segment there is nothing but the name and the size. In the window is the
// whole start: reading what there is, the cut, the deletion, the rewriting of indexes, the syncs, and
// the registration in the metadata log.
var tornTail = Script{
	Name:      "torn-tail",
	About:     "the start of a node on a log whose last segments a power loss has torn",
	configure: smallSegments,
	play: func(t *stage) {
		t.start()
		t.create("orders")
		t.identify("orders")
		t.produce("orders", 3, 3)
		t.produce("orders", 2, 4, 1)
		t.settle()
		t.kill()
		t.tear("orders", 2)
		t.openWindow()
		t.start()
		t.closeWindow()
	},
}

func smallSegments(c *node.Config) { c.Broker.Topic.SegmentBytes = 6000 }

// truncate cuts a log to the batch boundary at or below an offset.
func (t *stage) truncate(name string, to kafka.Offset) {
	if t.crashed {
		return
	}
	topic := t.ledger.find(name)
	boundary := topic.beginCut(to)
	config := t.machine.Config.Broker.Topic
	job := &commitlog.RecoverJob{
		Path: partitionPath(name), TopicID: topic.id, TruncateTo: to,
		Config: &commitlog.Config{
			SegmentBytes: config.SegmentBytes, SegmentMs: config.SegmentMs,
			SegmentIndexBytes: config.SegmentIndexBytes, IndexIntervalBytes: config.IndexIntervalBytes,
			FlushMessages: config.FlushMessages, IndexWriteEntries: 1,
			ProducerExpirationMs: t.machine.Config.Broker.ProducerExpiration.Milliseconds(),
		},
		RecoveryPoint: t.recoveryPoint(name),
	}
	t.run(job, func(result any) {
		r := result.(*commitlog.Recovered)
		if !r.Usable() || r.End != boundary {
			t.fails("truncate %s to %d: usable %v, ends at %d", name, to, r.Usable(), r.End)
		}
		topic.endCut(boundary)
	})
}

// kill kills a settled process, before the window opens.
func (t *stage) kill() {
	t.noteSynced()
	t.machine.Kill()
}

// recoveryPoint returns the checkpointed recovery point of a topic.
func (t *stage) recoveryPoint(name string) kafka.Offset {
	b, _ := t.machine.Disk.Bytes(rootPath(commitlog.RecoveryPointCheckpointName))
	entries, _ := commitlog.DecodeCheckpoint(b)
	for _, e := range entries {
		if e.Partition.Topic == name {
			return e.Offset
		}
	}
	return 0
}

// tear adds to a log what a power loss leaves of the batch after its last one, with so many records,
// and of a segment behind it.
func (t *stage) tear(name string, size int) {
	topic := t.ledger.find(name)
	log := readLog(t.machine.Disk, name)
	end := log.End + kafka.Offset(size)
	topic.batches = append(topic.batches, end)
	path := segmentPath(name, log.Bases[len(log.Bases)-1], ".log")
	content, _ := t.machine.Disk.Bytes(path)
	last := log.Batches[len(log.Batches)-1]
	batch := t.client.batch(topic, log.End, end)
	record.Stamp(batch, env.Patch{Stamp: true, BaseOffset: int64(log.End), LeaderEpoch: int32(last.LeaderEpoch())})
	clear(batch[len(batch)/2:])
	t.machine.Disk.Put(path, append(content, batch...))
	t.machine.Disk.Put(segmentPath(name, end, ".log"), make([]byte, 2*sim.SectorSize))
}
