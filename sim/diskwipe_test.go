package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/env"
)

func TestAWipedDiskHasNothing(t *testing.T) {
	r := newBench(t, 1)
	p := env.Path{Name: "stet/x"}
	r.disk.Put(p, []byte("content"))
	r.disk.Wipe()
	for range 2 {
		_, cached := r.disk.Bytes(p)
		_, durable := r.disk.DurableBytes(p)
		require.False(t, cached || durable)
		require.Empty(t, r.disk.Files(0))
		require.Empty(t, r.disk.DurableEntries(env.Path{}))
		r.losePower(NewRandomFates(NewEntropy(1).Stream("x", 0)))
	}
}
