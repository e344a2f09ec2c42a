package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stet/core/commitlog"
	"stet/core/kafka"
	"stet/core/record"
)

// maxDumpDecompressed bounds what dump decompresses of one batch.
const maxDumpDecompressed = 1 << 30

// dumpFlags choose the form of a dump.
type dumpFlags struct {
	records bool
	json    bool
}

// dumper prints the lines of one file and says what is invalid.
type dumper func(p *printer, path string, flags *dumpFlags) error

func dumpCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "dump",
		Short: "Print what a file of a data directory holds",
		Long: `Print a line of key=value pairs, under Kafka's names, for each batch or entry of a file.
Exits 10 if something in a file is invalid.`,
		Args: cobra.NoArgs,
	}
	kinds := []struct {
		name, short string
		dump        dumper
	}{
		{"log", "Print the batches of segments (.log)", dumpLog},
		{"index", "Print the entries of offset indexes (.index)", dumpIndex},
		{"timeindex", "Print the entries of time indexes (.timeindex)", dumpTimeIndex},
		{"snapshot", "Print producer snapshots and their sidecars (.snapshot, .sequences)", dumpSnapshot},
		{"checkpoint", "Print offset or leader-epoch checkpoints", dumpCheckpoint},
		{"metadata", "Print the controller's logs and snapshots (stet/raft)", dumpMetadata},
		{"life", "Print clean-start markers and last lives (stet/clean, stet/life)", dumpLife},
	}
	for _, k := range kinds {
		c.AddCommand(dumpKind(k.name, k.short, k.dump))
	}
	return c
}

func dumpKind(name, short string, dump dumper) *cobra.Command {
	var flags dumpFlags
	c := &cobra.Command{
		Use:   name + " FILE...",
		Short: short,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error {
			return dumpFiles(dump, paths, &flags)
		},
	}
	c.Flags().BoolVar(&flags.json, "json", false, "a JSON object a line")
	if name == "log" {
		c.Flags().BoolVar(&flags.records, "records", false, "print the records of each batch too")
	}
	return c
}

func dumpFiles(dump dumper, paths []string, flags *dumpFlags) error {
	p := &printer{out: bufio.NewWriter(os.Stdout), json: flags.json}
	defer p.out.Flush()
	invalid := false
	for _, path := range paths {
		if err := dump(p, path, flags); err != nil {
			if os.IsNotExist(err) || os.IsPermission(err) {
				return err
			}
			p.line("file", path, "valid", false, "why", err.Error())
			invalid = true
		}
	}
	if invalid {
		return &exitError{code: exitSafety}
	}
	return nil
}

// printer writes lines of pairs.
type printer struct {
	out  *bufio.Writer
	json bool
}

// line writes alternating names and values.
func (p *printer) line(pairs ...any) {
	if p.json {
		object := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			object[pairs[i].(string)] = pairs[i+1]
		}
		text, _ := json.Marshal(object)
		p.out.Write(append(text, '\n'))
		return
	}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			p.out.WriteByte(' ')
		}
		fmt.Fprintf(p.out, "%v=%s", pairs[i], quoted(fmt.Sprint(pairs[i+1])))
	}
	p.out.WriteByte('\n')
}

// quoted leaves simple words alone, so that lines can be cut at blanks.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r == '"' || r == '=' || r == 0x7f
	}) {
		return s
	}
	return strconv.Quote(s)
}

// baseOffset reads the base offset from a segment's file name.
func baseOffset(path string) (kafka.Offset, error) {
	name := filepath.Base(path)
	digits, _, _ := strings.Cut(name, ".")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || len(digits) != 20 {
		return 0, fmt.Errorf("%s: the name does not begin with an offset of 20 digits", name)
	}
	return kafka.Offset(n), nil
}

func dumpLog(p *printer, path string, flags *dumpFlags) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var scratch record.Scratch
	next := kafka.NoOffset
	for position := int64(0); ; {
		batch, err := readBatch(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", position, err)
		}
		dumpBatch(p, record.View(batch), position)
		if problem := record.Check(batch); problem != 0 {
			return fmt.Errorf("position %d: %v", position, problem)
		}
		v := record.View(batch)
		if v.BaseOffset() < next {
			return fmt.Errorf("position %d: base offset %d after end %d", position, v.BaseOffset(), next)
		}
		if flags.records {
			if problem := dumpRecords(p, &scratch, batch); problem != 0 {
				return fmt.Errorf("position %d: %v", position, problem)
			}
		}
		next = v.NextOffset()
		position += int64(len(batch))
	}
}

// readBatch reads one batch by its length; what follows the last one is an error.
func readBatch(in *bufio.Reader) ([]byte, error) {
	head, err := in.Peek(record.HeaderSize)
	if len(head) == 0 && err == io.EOF {
		return nil, io.EOF
	}
	if err != nil {
		return nil, fmt.Errorf("%d bytes that are no batch", len(head))
	}
	size := record.View(head).SizeBytes()
	if size < record.HeaderSize || size > 1<<31-1 {
		return nil, fmt.Errorf("a batch of %d bytes", size)
	}
	batch := make([]byte, size)
	if n, err := io.ReadFull(in, batch); err != nil {
		return nil, fmt.Errorf("a batch of %d bytes, of which %d are there", size, n)
	}
	return batch, nil
}

func dumpBatch(p *printer, v record.View, position int64) {
	a := v.Attributes()
	p.line("baseOffset", v.BaseOffset(), "lastOffset", v.LastOffset(), "count", v.Count(),
		"baseSequence", v.BaseSequence(), "lastSequence", v.LastSequence(),
		"producerId", v.ProducerID(), "producerEpoch", v.ProducerEpoch(),
		"partitionLeaderEpoch", v.LeaderEpoch(), "isTransactional", a.IsTransactional(),
		"isControl", a.IsControl(), "position", position, "baseTimestamp", v.BaseTimestamp(),
		"maxTimestamp", v.MaxTimestamp(), "timestampType", timestampTypeName(a.TimestampType()),
		"size", v.SizeBytes(), "magic", v.Magic(), "compresscodec", a.Codec(), "crc", v.CRC())
}

func timestampTypeName(t kafka.TimestampType) string {
	if t == kafka.LogAppendTime {
		return "LogAppendTime"
	}
	return "CreateTime"
}

func dumpRecords(p *printer, scratch *record.Scratch, batch []byte) record.Problem {
	return scratch.Records(batch, maxDumpDecompressed, func(r record.Record) bool {
		pairs := []any{"offset", r.Offset, "timestamp", r.Timestamp}
		if r.Key != nil {
			pairs = append(pairs, "key", string(r.Key))
		}
		if r.Value != nil {
			pairs = append(pairs, "payload", string(r.Value))
		}
		for _, h := range r.Headers {
			pairs = append(pairs, "header."+string(h.Key), string(h.Value))
		}
		p.line(pairs...)
		return true
	})
}

func dumpIndex(p *printer, path string, _ *dumpFlags) error {
	base, b, err := readIndexFile(path)
	if err != nil {
		return err
	}
	entries, err := commitlog.DecodeIndex(b, base)
	for _, e := range entries {
		p.line("offset", e.Offset, "position", e.Position)
	}
	return err
}

func dumpTimeIndex(p *printer, path string, _ *dumpFlags) error {
	base, b, err := readIndexFile(path)
	if err != nil {
		return err
	}
	entries, err := commitlog.DecodeTimeIndex(b, base)
	for _, e := range entries {
		p.line("timestamp", e.Timestamp, "offset", e.Offset)
	}
	return err
}

func readIndexFile(path string) (kafka.Offset, []byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, nil, err
	}
	base, err := baseOffset(path)
	return base, b, err
}

func dumpCheckpoint(p *printer, path string, _ *dumpFlags) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if filepath.Base(path) == "leader-epoch-checkpoint" {
		entries, err := commitlog.DecodeEpochCheckpoint(b)
		for _, e := range entries {
			p.line("leaderEpoch", e.Epoch, "startOffset", e.Start)
		}
		return err
	}
	entries, err := commitlog.DecodeCheckpoint(b)
	for _, e := range entries {
		p.line("topic", e.Partition.Topic, "partition", e.Partition.Partition, "offset", e.Offset)
	}
	return err
}
