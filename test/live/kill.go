package live

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/bench/load"
)

// stream writes numbered batches to one partition, in order, over one connection with several
// requests in flight, and remembers what was acknowledged. Half of the bytes of a kill run go
// through streams of 8 MB requests, because only a large write can be torn by a signal.
type stream struct {
	topic      string
	valueBytes int
	values     int // in a batch
	inFlight   int
	pause      time.Duration // between requests, for streams that should not fill the disk
	block      []byte
	answers    atomic.Int64 // acknowledgements of the current round
	next       uint64       // number of the next batch
	acked      []ackedBatch
	unanswered int   // requests in flight when the broker died
	failure    error // why the writer ended
}

type ackedBatch struct {
	number uint64
	offset int64
}

// batch puts its number before each value; the rest of every value is the stream's block.
func (s *stream) batch(number uint64) []byte {
	if s.block == nil {
		random := rand.New(rand.NewPCG(uint64(s.valueBytes), 4))
		for len(s.block) < s.valueBytes {
			s.block = binary.BigEndian.AppendUint64(s.block, random.Uint64())
		}
	}
	values := make([][]byte, s.values)
	for i := range values {
		v := binary.BigEndian.AppendUint64(make([]byte, 0, s.valueBytes), number)
		values[i] = append(v, s.block[8:s.valueBytes]...)
	}
	return load.BatchOf(values...)
}

// write sends until the connection dies or stop is closed, then waits for the answers.
func (s *stream) write(address string, stop <-chan struct{}) error {
	c, err := load.Dial(address)
	if err != nil {
		return err
	}
	defer c.Close()
	sent := make(chan uint64, s.inFlight)
	received := make(chan error, 1)
	go func() { received <- s.receive(c, sent) }()
	var frame []byte
	for s.failure = nil; s.failure == nil; {
		select {
		case <-stop:
			s.failure = errors.New("stopped")
			continue
		case <-time.After(s.pause):
		}
		frame = load.AppendFrame(frame[:0], load.ProduceRequest(s.topic, 0, -1, s.batch(s.next)), 0)
		sent <- s.next
		s.next++
		s.failure = c.Send(frame)
	}
	close(sent)
	return <-received
}

// receive takes answers in order. The end of the connection is expected; an error code is not.
func (s *stream) receive(c *load.Conn, sent <-chan uint64) error {
	dead := false
	for number := range sent {
		if dead {
			s.unanswered++
			continue
		}
		_, body, err := c.Receive()
		if err != nil {
			dead = true
			c.Close()
			s.unanswered++
			continue
		}
		resp := load.ProduceRequest(s.topic, 0, -1, nil).ResponseKind().(*kmsg.ProduceResponse)
		if err := errors.Join(load.Decode(resp, body), load.ProduceError(resp)); err != nil {
			return err
		}
		offset := resp.Topics[0].Partitions[0].BaseOffset
		s.acked = append(s.acked, ackedBatch{number, offset})
		s.answers.Add(1)
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// verify reads the whole partition and checks that every acknowledged batch stands where it was
// acknowledged, unchanged, and that batches stand in the order in which they were sent, once each.
func (s *stream) verify(c *load.Conn) error {
	ends, err := load.EndOffsets(c, s.topic, 1, -1)
	if err != nil {
		return err
	}
	wanted := map[int64]uint64{}
	for _, a := range s.acked {
		wanted[a.offset] = a.number
	}
	last := int64(-1)
	for next := int64(0); next < ends[0]; {
		batches, err := s.fetch(c, next)
		if err != nil {
			return err
		}
		if len(batches) == 0 {
			return fmt.Errorf("%s: nothing at offset %d below the end %d", s.topic, next, ends[0])
		}
		for _, b := range batches {
			if b.offset != next {
				return fmt.Errorf("%s: offset %d follows %d", s.topic, b.offset, next)
			}
			if number, ok := wanted[b.offset]; ok && number != b.number {
				return fmt.Errorf("%s: offset %d holds batch %d; %d was acknowledged there",
					s.topic, b.offset, b.number, number)
			}
			if int64(b.number) <= last {
				return fmt.Errorf("%s: batch %d follows %d", s.topic, b.number, last)
			}
			delete(wanted, b.offset)
			next, last = b.next, int64(b.number)
		}
	}
	if len(wanted) > 0 {
		lost := slices.Sorted(maps.Keys(wanted))
		return fmt.Errorf("%s: %d acknowledged batches are gone, the first at offset %d of %d",
			s.topic, len(lost), lost[0], ends[0])
	}
	return nil
}

// readBatch is a whole batch that was read back and found unchanged.
type readBatch struct {
	offset, next int64
	number       uint64
}

func (s *stream) fetch(c *load.Conn, offset int64) ([]readBatch, error) {
	p := kmsg.NewFetchRequestTopicPartition()
	p.FetchOffset, p.PartitionMaxBytes = offset, 16<<20
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.Partitions = s.topic, []kmsg.FetchRequestTopicPartition{p}
	resp, err := c.Do(load.FetchRequest(topic))
	if err != nil {
		return nil, err
	}
	fetched := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if fetched.ErrorCode != 0 {
		return nil, fmt.Errorf("%s: fetch at %d: error %d", s.topic, offset, fetched.ErrorCode)
	}
	return s.split(fetched.RecordBatches)
}

func (s *stream) split(b []byte) ([]readBatch, error) {
	var out []readBatch
	for len(b) > 0 {
		next, bytes, _ := load.WalkBatches(b[:min(len(b), wholeBatch(b))])
		if bytes == 0 {
			break
		}
		batch := b[:bytes]
		offset := int64(binary.BigEndian.Uint64(batch))
		if crc32.Checksum(batch[21:], castagnoli) != binary.BigEndian.Uint32(batch[17:]) {
			return nil, fmt.Errorf("%s: the batch at %d is damaged", s.topic, offset)
		}
		number, err := s.identify(batch)
		if err != nil {
			return nil, fmt.Errorf("%s: the batch at %d: %w", s.topic, offset, err)
		}
		out = append(out, readBatch{offset, next, number})
		b = b[bytes:]
	}
	return out, nil
}

// wholeBatch is the size that a batch's header announces, or the header's if there is no more.
func wholeBatch(b []byte) int {
	if len(b) < 61 {
		return 61
	}
	return 12 + int(binary.BigEndian.Uint32(b[8:]))
}

// identify finds the number of a batch and compares all of its records with what was sent.
func (s *stream) identify(batch []byte) (uint64, error) {
	record := kmsg.NewRecord()
	if err := record.ReadFrom(batch[61:]); err != nil {
		return 0, err
	}
	if len(record.Value) != s.valueBytes {
		return 0, fmt.Errorf("its first value has %d bytes", len(record.Value))
	}
	number := binary.BigEndian.Uint64(record.Value)
	if string(s.batch(number)[61:]) != string(batch[61:]) {
		return 0, fmt.Errorf("its records are not those of number %d", number)
	}
	return number, nil
}

// tornTails counts the logs below dir whose last bytes are no whole, sound batch, and those bytes.
func tornTails(dir string) (torn int, tornBytes int64, err error) {
	logs, err := filepath.Glob(filepath.Join(dir, "*-*", "*.log"))
	if err != nil {
		return 0, 0, err
	}
	for _, name := range logs {
		rest, err := tornTail(name)
		if err != nil {
			return 0, 0, err
		}
		if rest > 0 {
			torn++
			tornBytes += rest
		}
	}
	return torn, tornBytes, nil
}

// tornTail returns the bytes behind the last sound batch of a log, zeros at the end left out:
// a broker may have zeroed a stretch ahead of its writes.
func tornTail(name string) (int64, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	for len(b) >= 61 {
		size := wholeBatch(b)
		if size < 61 || size > len(b) ||
			crc32.Checksum(b[21:size], castagnoli) != binary.BigEndian.Uint32(b[17:]) {
			break
		}
		b = b[size:]
	}
	end := len(b)
	for end > 0 && b[end-1] == 0 {
		end--
	}
	return int64(end), nil
}

// killRound runs the streams against a started broker, kills it d after each has been acknowledged
// once, and waits for the streams.
func killRound(b *Broker, streams []*stream, d time.Duration) error {
	stop := make(chan struct{})
	failures := make([]error, len(streams))
	var wait sync.WaitGroup
	for i, s := range streams {
		s.answers.Store(0)
		wait.Go(func() { failures[i] = s.write(b.Address, stop) })
	}
	for begin := time.Now(); time.Since(begin) < startTimeout && !allAnswered(streams); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(d)
	err := b.Kill()
	close(stop)
	wait.Wait()
	return errors.Join(append(failures, err)...)
}

func allAnswered(streams []*stream) bool {
	for _, s := range streams {
		if s.answers.Load() == 0 {
			return false
		}
	}
	return true
}
