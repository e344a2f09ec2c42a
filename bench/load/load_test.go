package load

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEncodedBatchesWalkBackToTheirCounts(t *testing.T) {
	batch, records := EncodeBatch(BatchShape{RecordBytes: 1000, BatchBytes: 64 << 10})
	require.Equal(t, 64, records)
	require.LessOrEqual(t, len(batch), 64<<10)
	next, bytes, counted := WalkBatches(append(batch, batch[:100]...))
	require.EqualValues(t, 64, next)
	require.EqualValues(t, len(batch), bytes)
	require.EqualValues(t, 64, counted)
}

func TestHistogramQuantilesAreWithinTwoPercent(t *testing.T) {
	var h Histogram
	for i := 1; i <= 10_000; i++ {
		h.Add(time.Duration(i) * time.Microsecond)
	}
	require.InEpsilon(t, float64(5*time.Millisecond), float64(h.Quantile(0.5)), 0.02)
	require.InEpsilon(t, float64(9900*time.Microsecond), float64(h.Quantile(0.99)), 0.02)
	require.Equal(t, 10*time.Millisecond, h.Worst())
}
