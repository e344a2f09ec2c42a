package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ConsumeOptions say what to read.
type ConsumeOptions struct {
	Address        string
	Topic          string
	Partitions     int
	Conns          int     // partitions are dealt out to connections
	From           []int64 // first offset of each partition
	Bytes          int64   // stop after this many bytes of whole batches; at the ends anyway
	PartitionBytes int32   // limit of a fetch for each partition
}

// ConsumeResult counts whole batches only.
type ConsumeResult struct {
	Bytes, Records, Requests int64
	Wall                     time.Duration
}

// Consume fetches all partitions from the given offsets to their ends as they are now.
func Consume(o ConsumeOptions) (*ConsumeResult, error) {
	c, err := Dial(o.Address)
	if err != nil {
		return nil, err
	}
	ends, err := EndOffsets(c, o.Topic, o.Partitions, -1)
	c.Close()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	readers := make([]*reader, min(o.Conns, o.Partitions))
	budget := &atomic.Int64{}
	budget.Store(o.Bytes)
	failures := make([]error, len(readers))
	var wait sync.WaitGroup
	for i := range readers {
		readers[i] = newReader(o, i, len(readers), ends, budget)
		wait.Go(func() { failures[i] = readers[i].run() })
	}
	wait.Wait()
	result := &ConsumeResult{Wall: time.Since(start)}
	for _, r := range readers {
		result.Bytes += r.bytes
		result.Records += r.records
		result.Requests += r.requests
	}
	return result, errors.Join(failures...)
}

// reader drives one connection, a request at a time, over its partitions.
type reader struct {
	options                  ConsumeOptions
	budget                   *atomic.Int64
	next, end                map[int32]int64 // by partition; one that has been read is gone
	bytes, records, requests int64
}

func newReader(o ConsumeOptions, i, of int, ends []int64, budget *atomic.Int64) *reader {
	r := &reader{options: o, budget: budget, next: map[int32]int64{}, end: map[int32]int64{}}
	for p := i; p < o.Partitions; p += of {
		if o.From[p] < ends[p] {
			r.next[int32(p)], r.end[int32(p)] = o.From[p], ends[p]
		}
	}
	return r
}

func (r *reader) run() error {
	c, err := Dial(r.options.Address)
	if err != nil {
		return err
	}
	defer c.Close()
	resp := kmsg.NewPtrFetchResponse()
	resp.SetVersion(fetchVersion)
	var frame []byte
	for len(r.next) > 0 && r.budget.Load() > 0 {
		frame = AppendFrame(frame[:0], r.request(), int32(r.requests))
		if err := c.Send(frame); err != nil {
			return err
		}
		_, body, err := c.Receive()
		if err != nil {
			return err
		}
		if err := Decode(resp, body); err != nil {
			return err
		}
		r.requests++
		if err := r.take(resp); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) request() *kmsg.FetchRequest {
	t := kmsg.NewFetchRequestTopic()
	t.Topic = r.options.Topic
	// The first partition of a request may use up its limit, so they take turns.
	for k := range r.options.Partitions {
		partition := int32((k + int(r.requests)) % r.options.Partitions)
		if offset, wanted := r.next[partition]; wanted {
			p := kmsg.NewFetchRequestTopicPartition()
			p.Partition, p.FetchOffset = partition, offset
			p.PartitionMaxBytes = r.options.PartitionBytes
			t.Partitions = append(t.Partitions, p)
		}
	}
	return FetchRequest(t)
}

// FetchRequest asks for these partitions outside of a session.
func FetchRequest(topics ...kmsg.FetchRequestTopic) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.SetVersion(fetchVersion)
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 500, 1, 50<<20
	req.SessionEpoch = -1
	req.Topics = topics
	return req
}

// take counts the whole batches of an answer and moves the offsets on.
func (r *reader) take(resp *kmsg.FetchResponse) error {
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("fetch %s/%d: %w", t.Topic, p.Partition, err)
			}
			next, bytes, records := WalkBatches(p.RecordBatches)
			r.bytes += bytes
			r.records += records
			r.budget.Add(-bytes)
			if bytes > 0 {
				r.next[p.Partition] = next
			}
			if r.next[p.Partition] >= r.end[p.Partition] {
				delete(r.next, p.Partition)
			}
		}
	}
	return nil
}

// WalkBatches counts the whole batches in b and returns the offset after the last one.
func WalkBatches(b []byte) (next, bytes, records int64) {
	for len(b) >= batchHeaderBytes {
		size := int64(12) + int64(int32(binary.BigEndian.Uint32(b[8:])))
		if size < batchHeaderBytes || size > int64(len(b)) {
			break
		}
		lastDelta := int64(int32(binary.BigEndian.Uint32(b[23:])))
		next = int64(binary.BigEndian.Uint64(b)) + lastDelta + 1
		records += int64(int32(binary.BigEndian.Uint32(b[57:])))
		bytes += size
		b = b[size:]
	}
	return next, bytes, records
}
