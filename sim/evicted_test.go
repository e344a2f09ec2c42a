package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
)

// TestWhatWasHandedOutIsKeptWhenItsPagesAreEvicted sends a range, has the sync of its file fail, and
// lets the pages be evicted while the range is on its way: a packet keeps the pages it refers to.
func TestWhatWasHandedOutIsKeptWhenItsPagesAreEvicted(t *testing.T) {
	lost := 0
	for seed := range uint64(8) {
		b := newNetBench(t, seed).dial()
		b.n.OnViolation = func(v RangeViolation) { t.Errorf("seed %d: %v", seed, v.Error()) }
		d := NewDisk(b.s, b.faults, NewEntropy(seed).Stream("disk", 1), 1, 1)
		d.evicting = b.n.keepPages
		d.Plan = onNth("log", DiskSync, 1, DiskFault{Kind: DiskEIO})
		mount := d.Mount(b.serverOwner)
		b.n.Stall(1, ClientPlace, Minute)
		after := ""
		b.s.Spawn(0, b.serverOwner, "server", func() {
			f := create(t, mount, "log", "0123456789")
			_, err := b.server.w.Send([]env.Part{{Bytes: framed("012")[:4]}, {File: f, Off: 0, Len: 3}})
			require.Equal(t, env.OK, err)
			require.Equal(t, env.EIO, f.Sync())
			b.s.Await(30 * Second)
			p := make([]byte, 3)
			_, err = f.ReadAt(p, 0)
			require.Equal(t, env.OK, err)
			after = string(p)
		})
		b.run(2 * Minute)
		require.Equal(t, []string{"012"}, b.client.frames)
		require.EqualValues(t, 3, b.n.Counts().RangeBytes)
		if after != "012" {
			lost++
		}
	}
	require.Positive(t, lost, "reads see what was lost")
}
