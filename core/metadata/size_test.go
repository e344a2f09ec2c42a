package metadata

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/kafka"
)

// bigImage has this many partitions, each with three replicas, on so many brokers, and the entries
// that made it.
func bigImage(brokers, topics, partitions int) (*Image, [][]byte) {
	random := rand.New(rand.NewPCG(1, 1))
	image := Empty()
	var entries [][]byte
	apply := func(records ...Record) {
		entry := AppendEntry(nil, records...)
		entries = append(entries, entry)
		var err error
		if image, err = image.ApplyEntry(image.Index()+1, entry); err != nil {
			panic(err)
		}
	}
	apply(&ClusterRecord{"cluster", Features{CurrentLevel}})
	for id := range kafka.BrokerID(brokers) {
		apply(&BrokerRecord{Broker{
			ID: id, Epoch: -1, Incarnation: IncarnationID{byte(id)}, Directories: []DirectoryID{{byte(id), 15: 1}},
			Endpoints: []Endpoint{{"PLAINTEXT", "host", 9092, 0}}, Features: BuildLevels().Features(),
		}})
	}
	for i := range topics {
		records, _ := CreateTopics(image, []NewTopic{{
			Name: fmt.Sprintf("topic-%06d", i), Partitions: int32(partitions), ReplicationFactor: 3,
		}}, TopicDefaults{1, 1, 1 << 40}, random)
		apply(records...)
	}
	return image, entries
}

// heapBytes returns what is alive on the heap.
func heapBytes() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkTwoHundredThousandPartitions measures a cluster of nine brokers, each of which hosts a
// third of the partitions.
func BenchmarkTwoHundredThousandPartitions(b *testing.B) {
	for _, shape := range []struct{ topics, partitions int }{{2_000, 100}, {200_000, 1}} {
		image, entries := bigImage(9, shape.topics, shape.partitions)
		b.Run(fmt.Sprintf("%d topics", shape.topics), func(b *testing.B) {
			b.Run("image", func(b *testing.B) { benchmarkImage(b, image, entries) })
			b.Run("change", func(b *testing.B) { benchmarkChange(b, image) })
			b.Run("events", func(b *testing.B) { benchmarkEvents(b, image) })
		})
	}
}

func benchmarkImage(b *testing.B, image *Image, entries [][]byte) {
	snapshot := image.AppendSnapshot(nil)
	b.Run("replay", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fresh := Empty()
			for _, e := range entries {
				fresh, _ = fresh.ApplyEntry(fresh.Index()+1, e)
			}
		}
	})
	b.Run("encode snapshot", func(b *testing.B) {
		for b.Loop() {
			snapshot = image.AppendSnapshot(snapshot[:0])
		}
		b.ReportMetric(float64(len(snapshot)), "snapshot-bytes")
	})
	b.Run("decode snapshot", func(b *testing.B) {
		b.ReportAllocs()
		var decoded *Image
		for b.Loop() {
			decoded, _ = DecodeSnapshot(snapshot)
		}
		with := heapBytes()
		runtime.KeepAlive(decoded)
		decoded = nil
		b.ReportMetric(with-heapBytes(), "heap-bytes")
	})
}

// benchmarkChange applies one change of one ISR.
func benchmarkChange(b *testing.B, image *Image) {
	topic := image.Topic("topic-001000")
	s := topic.Partition(0).Standing
	s.ISR = s.ISR[:2]
	entry := AppendEntry(nil, &PartitionChangesRecord{topic.ID, []PartitionUpdate{{Standing: s}}})
	var next *Image
	b.Run("apply", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			next, _ = image.ApplyEntry(image.Index()+1, entry)
		}
		b.ReportMetric(float64(len(entry)), "entry-bytes")
	})
	b.Run("diff", func(b *testing.B) {
		for b.Loop() {
			require.Len(b, Diff(image, next).TopicsChanged[0].Partitions, 1)
		}
	})
}

// benchmarkEvents fences and unfences a broker, and lets it begin anew.
func benchmarkEvents(b *testing.B, image *Image) {
	fenced := benchmarkEvent(b, "fence", image, func(image *Image) []Record {
		return FenceBrokers(image, ids(4))
	})
	beat := Beat{Broker: 4, Epoch: fenced.Broker(4).Epoch, Index: fenced.Index()}
	benchmarkEvent(b, "unfence", fenced, func(image *Image) []Record {
		records, _, _ := Heartbeat(image, &beat, nil)
		return records
	})
	asked := registrationOf(4, 99)
	asked.Broker.Directories = []DirectoryID{{4, 15: 1}}
	asked.PreviousEpoch = -1
	benchmarkEvent(b, "unclean start", image, func(image *Image) []Record {
		records, _, _ := RegisterBroker(image, asked, false)
		return records
	})
}

func benchmarkEvent(b *testing.B, name string, image *Image, decide func(*Image) []Record) *Image {
	entry := AppendEntry(nil, decide(image)...)
	next, err := image.ApplyEntry(image.Index()+1, entry)
	require.NoError(b, err)
	b.Run(name+", decide", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = AppendEntry(nil, decide(image)...)
		}
		b.ReportMetric(float64(len(entry)), "entry-bytes")
	})
	b.Run(name+", apply", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = image.ApplyEntry(image.Index()+1, entry)
		}
	})
	return next
}
