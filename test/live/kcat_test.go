//go:build live

package live

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// kcatRecord is a record as kcat prints it; it cannot tell a null header from an empty one.
type kcatRecord struct {
	offset, time     int64
	keySize, valSize int // -1 is null
	key, value       string
	headers          string
}

// kcatFormat puts a control character between fields and another behind each record; no field
// contains either.
const kcatFormat = `%o\x01%T\x01%K\x01%k\x01%S\x01%s\x01%h\x02`

func kcat(t *testing.T, input []byte, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	command := exec.CommandContext(ctx, "kcat", args...)
	command.Stdin = bytes.NewReader(input)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	require.NoError(t, err, "kcat %v: %s", args, &complaints)
	return out
}

// kcatConsume reads partition 0 from a position of kcat's syntax to the end.
func kcatConsume(t *testing.T, b *Broker, topic, from string) []kcatRecord {
	t.Helper()
	out := kcat(t, nil, "-C", "-q", "-e", "-b", b.Address, "-t", topic, "-p", "0", "-o", from,
		"-X", "check.crcs=true", "-f", kcatFormat)
	var records []kcatRecord
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x02"), "\x02") {
		f := strings.Split(line, "\x01")
		require.Len(t, f, 7, "%.200q", line)
		r := kcatRecord{key: f[3], value: f[5], headers: f[6]}
		for i, to := range map[int]*int64{0: &r.offset, 1: &r.time} {
			n, err := strconv.ParseInt(f[i], 10, 64)
			require.NoError(t, err)
			*to = n
		}
		for i, to := range map[int]*int{2: &r.keySize, 4: &r.valSize} {
			n, err := strconv.Atoi(f[i])
			require.NoError(t, err)
			*to = n
		}
		records = append(records, r)
	}
	return records
}

// TestKcatAndFranzGoReadEachOther sends with kcat and reads with both, with every codec.
func TestKcatAndFranzGoReadEachOther(t *testing.T) {
	needCommand(t, "kcat")
	b := startBroker(t)
	for _, codec := range codecs {
		t.Run(codec.name+"/small", func(t *testing.T) {
			topic := "kcat-" + codec.name + "-small"
			createTopic(t, b, topic, 1, nil)
			want := kcatSmall(t, b, topic, codec.name)
			requireKcat(t, b, topic, want)
		})
		t.Run(codec.name+"/large", func(t *testing.T) {
			topic := "kcat-" + codec.name + "-large"
			createTopic(t, b, topic, 1, nil)
			want := kcatLarge(t, b, topic, codec.name)
			requireKcat(t, b, topic, want)
		})
		t.Run(codec.name+"/from franz-go", func(t *testing.T) {
			topic := "kcat-" + codec.name + "-franz"
			createTopic(t, b, topic, 1, nil)
			records := smallRecords(topic)
			franzProduce(t, b, codec.franz, records)
			got := kcatConsume(t, b, topic, "beginning")
			require.Len(t, got, len(records))
			for i, r := range records {
				requireSame(t, r, got[i])
			}
		})
	}
}

const kcatHeader = "origin=kcat"

// kcatSmall produces records with keys, null keys and null values, and one header.
func kcatSmall(t *testing.T, b *Broker, topic, codec string) []kcatRecord {
	t.Helper()
	var input bytes.Buffer
	want := make([]kcatRecord, smallCount)
	for i := range want {
		r := kcatRecord{offset: int64(i), key: fmt.Sprint("key-", i), value: fmt.Sprint("value ", i)}
		if i%7 == 0 {
			r.key = ""
		}
		if i%11 == 0 && r.key != "" { // kcat drops a line that is empty on both sides
			r.value = ""
		}
		r.keySize, r.valSize = len(r.key), len(r.value)
		if r.key == "" {
			r.keySize = -1
		}
		if r.value == "" {
			r.valSize = -1
		}
		r.headers = kcatHeader
		fmt.Fprintf(&input, "%s\t%s\n", r.key, r.value)
		want[i] = r
	}
	kcat(t, input.Bytes(), "-P", "-b", b.Address, "-t", topic, "-p", "0", "-z", codec, "-Z",
		"-K", "\t", "-H", kcatHeader, "-X", "enable.idempotence=true")
	return want
}

// kcatLarge produces files, a record each.
func kcatLarge(t *testing.T, b *Broker, topic, codec string) []kcatRecord {
	t.Helper()
	dir := t.TempDir()
	args := []string{
		"-P", "-b", b.Address, "-t", topic, "-p", "0", "-z", codec, "-k", "large", "-H", kcatHeader,
	}
	want := make([]kcatRecord, largeCount)
	for i := range want {
		value := largeValue(i)
		name := filepath.Join(dir, fmt.Sprint(i))
		require.NoError(t, os.WriteFile(name, value, 0o644))
		args = append(args, name)
		want[i] = kcatRecord{
			offset: int64(i), keySize: 5, key: "large", valSize: largeBytes, value: string(value),
			headers: kcatHeader,
		}
	}
	kcat(t, nil, args...)
	return want
}

// requireKcat reads with both clients: all, from an offset, and from a time.
func requireKcat(t *testing.T, b *Broker, topic string, want []kcatRecord) {
	t.Helper()
	all := kcatConsume(t, b, topic, "beginning")
	require.Len(t, all, len(want))
	for i, r := range all {
		want[i].time = r.time // the client's clock
		require.True(t, want[i] == r, "record %d is not what was sent", i)
	}
	half := len(want) / 2
	require.Equal(t, want[half:], kcatConsume(t, b, topic, strconv.Itoa(half)))
	at := want[half].time
	first := 0
	for want[first].time < at {
		first++
	}
	require.Equal(t, want[first:], kcatConsume(t, b, topic, fmt.Sprint("s@", at)))

	byFranz := franzConsume(t, b, topic, 0, kgo.NewOffset().At(0), len(want))
	require.Len(t, byFranz, len(want))
	for i, r := range byFranz {
		requireSame(t, r, want[i])
	}
}

// requireSame compares a record of franz-go with one of kcat.
func requireSame(t *testing.T, r *kgo.Record, k kcatRecord) {
	t.Helper()
	require.Equal(t, r.Offset, k.offset)
	require.Equal(t, r.Timestamp.UnixMilli(), k.time)
	require.Equal(t, sizeOf(r.Key), k.keySize)
	require.Equal(t, sizeOf(r.Value), k.valSize)
	require.True(t, string(r.Key) == k.key && string(r.Value) == k.value, "record %d", k.offset)
	var headers []string
	for _, h := range r.Headers {
		headers = append(headers, h.Key+"="+string(h.Value))
	}
	// kcat prints a null header as NULL.
	require.Equal(t, strings.Join(headers, ","), strings.ReplaceAll(k.headers, "null=NULL", "null="))
}

func sizeOf(b []byte) int {
	if b == nil {
		return -1
	}
	return len(b)
}

// TestKcatShowsTheRefusalOfALargeRecord lets kcat send what its own limit would refuse.
func TestKcatShowsTheRefusalOfALargeRecord(t *testing.T) {
	needCommand(t, "kcat")
	b := startBroker(t)
	createTopic(t, b, "limit", 1, nil)
	name := filepath.Join(t.TempDir(), "record")
	require.NoError(t, os.WriteFile(name, bytes.Repeat([]byte("x"), 1_100_000), 0o644))
	out, err := exec.Command("kcat", "-P", "-b", b.Address, "-t", "limit", "-p", "0",
		"-X", "message.max.bytes=2000000", name).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "Broker: Message size too large")
}
