//go:build live

package live

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"stet/bench/load"
)

// TestKafkasDumpToolReadsTheFilesWithoutComplaint looks at the files of a broker that was stopped,
// of one that was killed at rest, and of one that came back from that and was stopped.
func TestKafkasDumpToolReadsTheFilesWithoutComplaint(t *testing.T) {
	needCommand(t, "java")
	b := newBroker(t)
	require.NoError(t, b.Start())
	for _, codec := range codecs {
		topic := "dump-" + codec.name
		createTopic(t, b, topic, 1, map[string]string{
			"segment.bytes": fmt.Sprint(1 << 20), "index.interval.bytes": "4096",
		})
		franzProduce(t, b, codec.franz, smallRecords(topic))
		franzProduceMore(t, b, codec.franz, topic)
	}
	require.NoError(t, b.Stop())
	requireStrictDump(t, b, "after a clean stop", false)

	require.NoError(t, b.Start())
	for _, codec := range codecs {
		franzProduceMore(t, b, codec.franz, "dump-"+codec.name)
	}
	require.NoError(t, b.Kill())
	requireStrictDump(t, b, "after kill -9 at rest", true)

	require.NoError(t, b.Start())
	requireAllThere(t, b)
	require.NoError(t, b.Stop())
	requireStrictDump(t, b, "after recovery and a clean stop", false)
}

// franzProduceMore sends the large records, which roll segments, without looking at offsets.
func franzProduceMore(t *testing.T, b *Broker, codec kgo.CompressionCodec, topic string) {
	t.Helper()
	client := franzClient(t, b, kgo.ProducerBatchCompression(codec))
	require.NoError(t, client.ProduceSync(t.Context(), largeRecords(topic)...).FirstErr())
}

func requireStrictDump(t *testing.T, b *Broker, when string, live bool) {
	t.Helper()
	batches, err := DumpStrictly(repository, b.Dir, live)
	require.NoError(t, err, when)
	require.GreaterOrEqual(t, batches, len(codecs)*largeCount, when)
	t.Logf("%s: %d batches", when, batches)
}

func requireAllThere(t *testing.T, b *Broker) {
	t.Helper()
	for _, codec := range codecs {
		ends, err := load.EndOffsets(dial(t, b), "dump-"+codec.name, 1, -1)
		require.NoError(t, err)
		require.Equal(t, []int64{smallCount + 2*largeCount}, ends)
	}
}

// TestDumpCheckSeesAFlippedBit makes sure that the check can fail.
func TestDumpCheckSeesAFlippedBit(t *testing.T) {
	needCommand(t, "java")
	dir := t.TempDir()
	partition := filepath.Join(dir, "flipped-0")
	require.NoError(t, os.Mkdir(partition, 0o755))
	batch := load.BatchOf([]byte("a value"))
	binary.BigEndian.PutUint32(batch[12:], 0)
	name := filepath.Join(partition, fmt.Sprintf("%020d.log", 0))
	require.NoError(t, os.WriteFile(name, batch, 0o644))
	batches, err := DumpStrictly(repository, dir, false)
	require.NoError(t, err)
	require.Equal(t, 1, batches)

	batch[len(batch)-3] ^= 1
	require.NoError(t, os.WriteFile(name, batch, 0o644))
	_, err = DumpStrictly(repository, dir, false)
	require.ErrorContains(t, err, "isvalid: false")
}
