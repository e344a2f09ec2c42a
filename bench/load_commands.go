package main

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"stet/bench/load"
)

// produce creates the topic if it is missing, sends, and prints one line of figures.
func produce(args []string) error {
	var o load.ProduceOptions
	f := flag.NewFlagSet("produce", flag.ExitOnError)
	f.StringVar(&o.Address, "address", "127.0.0.1:9092", "broker")
	f.StringVar(&o.Topic, "topic", "bench", "topic")
	f.IntVar(&o.Partitions, "partitions", 8, "partitions of the topic")
	f.IntVar(&o.Conns, "conns", 4, "connections")
	f.IntVar(&o.InFlight, "in-flight", 5, "requests in flight on a connection")
	f.IntVar(&o.Shape.RecordBytes, "record", 1000, "bytes of a record's value")
	f.IntVar(&o.Shape.BatchBytes, "batch", 64<<10, "bytes of a batch")
	f.Int64Var(&o.Bytes, "bytes", 1e9, "bytes of batches to send")
	f.Float64Var(&o.Rate, "rate", 0, "requests a second; 0 is as fast as possible")
	acks := f.Int("acks", -1, "acks: -1, 0 or 1")
	if err := f.Parse(args); err != nil {
		return err
	}
	o.Acks = int16(*acks)
	c, err := load.Dial(o.Address)
	if err != nil {
		return err
	}
	if err := load.CreateTopic(c, o.Topic, o.Partitions, nil); err != nil {
		return err
	}
	r, err := load.Produce(o)
	if err != nil {
		return err
	}
	ends, err := load.EndOffsets(c, o.Topic, o.Partitions, -1)
	if err != nil {
		return err
	}
	fmt.Printf("bytes=%d records=%d requests=%d wall_s=%.3f mb_per_s=%.1f p50_us=%d p99_us=%d "+
		"p999_us=%d max_us=%d ends=%s\n", r.Bytes, r.Records, r.Requests, r.Wall.Seconds(),
		float64(r.Bytes)/1e6/r.Wall.Seconds(), r.Latency.Quantile(0.5).Microseconds(),
		r.Latency.Quantile(0.99).Microseconds(), r.Latency.Quantile(0.999).Microseconds(),
		r.Latency.Worst().Microseconds(), joinOffsets(ends))
	return nil
}

// consume reads from the given offsets to the ends and prints one line of figures.
func consume(args []string) error {
	var o load.ConsumeOptions
	f := flag.NewFlagSet("consume", flag.ExitOnError)
	f.StringVar(&o.Address, "address", "127.0.0.1:9092", "broker")
	f.StringVar(&o.Topic, "topic", "bench", "topic")
	f.IntVar(&o.Partitions, "partitions", 8, "partitions of the topic")
	f.IntVar(&o.Conns, "conns", 4, "connections")
	f.Int64Var(&o.Bytes, "bytes", 1<<62, "bytes of batches to read at most")
	limit := f.Int("partition-bytes", 1<<20, "limit of a fetch for each partition")
	from := f.String("from", "", "first offset of each partition, with commas; empty is the start")
	if err := f.Parse(args); err != nil {
		return err
	}
	o.PartitionBytes = int32(*limit)
	var err error
	if o.From, err = splitOffsets(*from, o.Partitions); err != nil {
		return err
	}
	r, err := load.Consume(o)
	if err != nil {
		return err
	}
	fmt.Printf("bytes=%d records=%d requests=%d wall_s=%.3f mb_per_s=%.1f\n", r.Bytes, r.Records,
		r.Requests, r.Wall.Seconds(), float64(r.Bytes)/1e6/r.Wall.Seconds())
	return nil
}

func joinOffsets(offsets []int64) string {
	text := make([]string, len(offsets))
	for i, o := range offsets {
		text[i] = strconv.FormatInt(o, 10)
	}
	return strings.Join(text, ",")
}

func splitOffsets(text string, partitions int) ([]int64, error) {
	if text == "" {
		return make([]int64, partitions), nil
	}
	parts := strings.Split(text, ",")
	if len(parts) != partitions {
		return nil, fmt.Errorf("%d offsets for %d partitions", len(parts), partitions)
	}
	offsets := make([]int64, partitions)
	for i, p := range parts {
		var err error
		if offsets[i], err = strconv.ParseInt(p, 10, 64); err != nil {
			return nil, err
		}
	}
	return offsets, nil
}
