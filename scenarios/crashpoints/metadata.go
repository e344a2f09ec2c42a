package crashpoints

import "stet/node"

// metadata changes the metadata of a cluster with limits so small that the raft log is compacted at
// every other change. In the window are: appends to the raft log, their syncs, snapshots, new
// generations of the log, the removal of what is obsolete, the creation of a replica's directory,
// and the deletion of another one's.
var metadata = Script{
	Name:  "metadata",
	About: "topics created and deleted, producer ids allocated, raft snapshots and log compaction",
	configure: func(c *node.Config) {
		c.Controller.Quorum.SnapshotEntries = 4
	},
	play: func(t *stage) {
		t.start()
		t.create("orders")
		t.identify("orders")
		t.produce("orders", 2)
		t.create("bills")
		t.stop() // the next process needs producer ids of its own
		t.start()
		t.openWindow()
		t.create("returns")
		t.identify("returns")
		t.produce("returns", 1)
		t.delete("bills")
		t.create("bills2")
		t.delete("returns")
		t.closeWindow()
	},
}
