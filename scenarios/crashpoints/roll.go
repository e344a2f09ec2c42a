package crashpoints

import "stet/node"

// roll writes until the log rolls twice. In the window are: the batches at the end of a segment, the
// creation of the next one's files, writes to it while the old one is being synced, the syncs of the
// old log, its indexes and the directory, and the producer snapshot and epoch checkpoint of the seal.
var roll = Script{
	Name:  "roll",
	About: "two segment rolls, with writes to the new segment while the old one is sealed",
	configure: func(c *node.Config) {
		c.Broker.Topic.SegmentBytes = 6000
	},
	play: func(t *stage) {
		t.start()
		t.create("orders")
		t.identify("orders")
		t.produce("orders", 3)
		t.produce("orders", 3)
		t.openWindow()
		t.produce("orders", 2, 4, 1) // the second does not fit any more
		t.produce("orders", 5, 3)    // nor does the second of these
		t.closeWindow()
	},
}
