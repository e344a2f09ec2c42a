package crashpoints

import (
	"stet/node"
	"stet/sim"
)

// checkpoint has a node write its checkpoints while it goes on writing, stop cleanly, start and go on.
// In the window are: the recovery point, log start and high watermark of the directory, replaced one
// after the other; the seal of a segment with its producer snapshot, sequences and epoch checkpoint;
// the close of the logs with the same for their ends; the last checkpoints and the clean markers; the
// removal of the markers, the start that believes them, and the first write after it.
var checkpoint = Script{
	Name:  "checkpoint",
	About: "offset checkpoints, a producer snapshot, an epoch checkpoint, a clean stop and start",
	configure: func(c *node.Config) {
		c.Broker.Topic.SegmentBytes = 4000
		c.Broker.CheckpointInterval = (2 * sim.Second).Duration()
	},
	play: func(t *stage) {
		t.start()
		t.create("orders")
		t.create("bills")
		t.identify("orders")
		t.identify("bills")
		t.produce("orders", 3, 2) // one roll
		t.produce("bills", 2)
		t.stop() // another leader epoch
		t.start()
		t.produce("orders", 3)
		t.openWindow()
		t.produce("orders", 3, 1) // a roll, whose end the checkpoint will name
		t.awaitCheckpoint()
		t.produce("bills", 1)
		t.stop()
		t.start()
		t.produce("bills", 2)
		t.closeWindow()
	},
}

// awaitCheckpoint waits until the next checkpoint is written.
func (t *stage) awaitCheckpoint() {
	written := t.checkpoints()
	t.await("checkpoint", func() bool { return t.checkpoints() > written })
	t.settle()
}

func (t *stage) checkpoints() int {
	return t.machine.Disk.Calls(rootPath("replication-offset-checkpoint.tmp"), sim.DiskRename)
}
