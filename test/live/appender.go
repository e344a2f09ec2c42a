package live

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// appender writes numbered records to one partition, in order and with acks=all, by an idempotent
// client that gives up no record, and remembers what was acknowledged.
type appender struct {
	topic     string
	partition int32
	client    *kgo.Client
	block     []byte // what every value ends with

	window chan struct{} // as many records may be under way

	mu      sync.Mutex
	next    uint64 // number of the next record
	acked   []ackedRecord
	lastAck time.Time
	highest uint64        // number of an acknowledged record, and 1 more
	gap     time.Duration // the longest between two acknowledgements since takeGap
	failure error
}

type ackedRecord struct {
	number uint64
	offset int64
}

const (
	appenderWindow = 64
	appenderPause  = time.Millisecond // between records
	appenderBytes  = 1 << 10
)

func newAppender(c *Cluster, topic string, partition int32) (*appender, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(c.addresses()...), kgo.Dialer(c.DialContext),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		// What the client adds to an outage should be small beside it.
		kgo.MetadataMinAge(50*time.Millisecond), kgo.MetadataMaxAge(2*time.Second),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }),
		kgo.RequestTimeoutOverhead(100*time.Millisecond), kgo.ProduceRequestTimeout(100*time.Millisecond),
	)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(uint64(partition), 6))
	block := make([]byte, 0, appenderBytes)
	for len(block) < appenderBytes {
		block = binary.BigEndian.AppendUint64(block, random.Uint64())
	}
	return &appender{
		topic: topic, partition: partition, client: client, block: block,
		window: make(chan struct{}, appenderWindow),
	}, nil
}

// run appends until ctx ends, and then waits until every record is acknowledged, or patience is over.
func (a *appender) run(ctx context.Context, patience time.Duration) error {
	a.mu.Lock()
	a.lastAck = time.Now()
	a.mu.Unlock()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case a.window <- struct{}{}:
			a.append()
			time.Sleep(appenderPause)
		}
	}
	flush, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := a.client.Flush(flush); err != nil {
		return fmt.Errorf("partition %d: records are not acknowledged after %v without faults: %w",
			a.partition, patience, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failure
}

func (a *appender) append() {
	a.mu.Lock()
	number := a.next
	a.next++
	a.mu.Unlock()
	record := &kgo.Record{Topic: a.topic, Partition: a.partition, Value: a.value(number)}
	a.client.Produce(context.Background(), record, func(r *kgo.Record, err error) {
		a.mu.Lock()
		if err == nil {
			now := time.Now()
			a.gap = max(a.gap, now.Sub(a.lastAck))
			a.lastAck = now
			a.acked = append(a.acked, ackedRecord{number, r.Offset})
			a.highest = max(a.highest, number+1)
		} else {
			a.failure = errors.Join(a.failure, fmt.Errorf("record %d: %w", number, err))
		}
		a.mu.Unlock()
		<-a.window
	})
}

func (a *appender) value(number uint64) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, appenderBytes), number), a.block[8:]...)
}

// sent returns how many records have been sent, and how many of these up to the last acknowledged one.
func (a *appender) sent() (sent, acked uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next, a.highest
}

// takeGap returns the longest time without an acknowledgement since it was last called; one that
// lasts counts.
func (a *appender) takeGap() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	gap := a.gap
	a.gap = 0
	return gap
}

// reader reads a partition on from where it was, and holds it against what was acknowledged.
type reader struct {
	of     *appender
	client *kgo.Client
	offset int64  // of the next record
	last   uint64 // number of the last record read
	read   int64
	judged int // acknowledgements that were found
}

func newReader(c *Cluster, a *appender) (*reader, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(c.addresses()...), kgo.Dialer(c.DialContext),
		kgo.FetchMaxWait(100*time.Millisecond), kgo.MetadataMinAge(50*time.Millisecond),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
			a.topic: {a.partition: kgo.NewOffset().At(0)},
		}),
	)
	if err != nil {
		return nil, err
	}
	return &reader{of: a, client: client}, nil
}

// verify reads until everything that is acknowledged has been read. Each acknowledged record has to
// stand where it was acknowledged, and the records in the order in which they were sent, once each.
func (r *reader) verify(ctx context.Context) error {
	r.of.mu.Lock()
	acked := slices.Clone(r.of.acked[r.judged:])
	r.of.mu.Unlock()
	slices.SortFunc(acked, func(a, b ackedRecord) int { return int(a.offset - b.offset) })
	for len(acked) > 0 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("partition %d: offset %d was acknowledged, and after all this time there is nothing behind offset %d",
				r.of.partition, acked[0].offset, r.offset)
		}
		poll, cancel := context.WithTimeout(ctx, time.Second)
		fetches := r.client.PollFetches(poll)
		cancel()
		var failure error
		fetches.EachRecord(func(record *kgo.Record) {
			if failure == nil {
				acked, failure = r.take(record, acked)
			}
		})
		if failure != nil {
			return fmt.Errorf("partition %d: %w", r.of.partition, failure)
		}
	}
	return nil
}

// take judges one record.
func (r *reader) take(record *kgo.Record, acked []ackedRecord) ([]ackedRecord, error) {
	if record.Offset < r.offset {
		return nil, fmt.Errorf("offset %d follows %d", record.Offset, r.offset-1)
	}
	if len(record.Value) != appenderBytes {
		return nil, fmt.Errorf("the record at offset %d has %d bytes", record.Offset, len(record.Value))
	}
	number := binary.BigEndian.Uint64(record.Value)
	switch {
	case string(record.Value) != string(r.of.value(number)):
		return nil, fmt.Errorf("the record at offset %d is not as number %d was sent", record.Offset, number)
	case r.read > 0 && number <= r.last:
		return nil, fmt.Errorf("offset %d holds record %d behind record %d", record.Offset, number, r.last)
	}
	r.offset, r.last = record.Offset+1, number
	r.read++
	if len(acked) == 0 || record.Offset < acked[0].offset {
		return acked, nil
	}
	if acked[0] != (ackedRecord{number, record.Offset}) {
		return nil, fmt.Errorf("offset %d holds record %d; record %d was acknowledged at offset %d",
			record.Offset, number, acked[0].number, acked[0].offset)
	}
	r.judged++
	return acked[1:], nil
}
