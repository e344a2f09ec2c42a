//go:build live

package live

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	recordedClients   = 8
	recordsOfAClient  = 300
	recordedTopics    = 3
	exitDivergent     = 13
	recordedHashBytes = 16
)

// TestRecordedRunReplays records a node under eight clients and has the binary replay it: the
// effects of every turn must have the hashes that were recorded. Then it changes one bit, once in a
// hash and once in a request, and the replay must name that turn.
func TestRecordedRunReplays(t *testing.T) {
	if !strings.Contains(*brokerCommand, "stet serve") {
		t.Skip("only Stet records")
	}
	recording := filepath.Join(t.TempDir(), "recording")
	b := newBroker(t)
	b.command += " --record " + recording
	require.NoError(t, b.Start())
	var clients sync.WaitGroup
	for i := range recordedClients {
		clients.Go(func() { produceAndConsume(t, b, i) })
	}
	clients.Wait()
	require.NoError(t, b.Stop())

	code, out := replay(t, recording)
	require.Zero(t, code, out)
	var turns, events int
	_, err := fmt.Sscanf(out, "ok record="+recording+" turns=%d events=%d", &turns, &events)
	require.NoError(t, err, out)
	require.Greater(t, events, 2*recordedClients*recordsOfAClient, "a request and its write each")
	require.LessOrEqual(t, turns, events)
	require.Greater(t, turns, recordsOfAClient, "of one client, nothing goes on together")

	whole, err := os.ReadFile(recording)
	require.NoError(t, err)
	ends := turnEnds(whole)
	require.Len(t, ends, turns)
	t.Logf("record: turns=%d events=%d bytes=%d", turns, events, len(whole))

	for _, turn := range []int{1, turns / 2, turns} {
		requireDivergence(t, whole, ends[turn-1]-1, turn)
	}
	at, turn := versionsRequest(t, whole, ends, clientName(recordedClients-1))
	requireDivergence(t, whole, at, turn)
}

func clientName(i int) string { return fmt.Sprintf("recorded-client-%d", i) }

// produceAndConsume produces records one by one, by a connection of its own, and reads as many.
func produceAndConsume(t *testing.T, b *Broker, i int) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	topic := fmt.Sprintf("recorded-%d", i%recordedTopics)
	c, err := kgo.NewClient(kgo.SeedBrokers(b.Address), kgo.ClientID(clientName(i)),
		kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(-1), kgo.ProducerLinger(0),
		kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	for n := range recordsOfAClient {
		r := &kgo.Record{Topic: topic, Value: fmt.Appendf(nil, "record %d of %d", n, i)}
		if err := c.ProduceSync(ctx, r).FirstErr(); err != nil {
			t.Error(err)
			return
		}
	}
	for read := 0; read < recordsOfAClient; {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Error(err)
			return
		}
		read += fetches.NumRecords()
	}
}

// replay runs the binary under test, and returns its exit code and what it printed.
func replay(t *testing.T, file string) (int, string) {
	t.Helper()
	cmd := exec.Command(strings.Fields(*brokerCommand)[0], "sim", "replay", file)
	cmd.Dir = repository
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
		return 0, string(out)
	}
	return exit.ExitCode(), string(out)
}

// turnEnds returns where each turn of a recording ends: behind a first line each turn has its size
// in four bytes, its events, and the hash of its effects.
func turnEnds(recording []byte) (ends []int) {
	at := bytes.IndexByte(recording, '\n') + 1
	for at < len(recording) {
		at += 4 + int(binary.BigEndian.Uint32(recording[at:]))
		ends = append(ends, at)
	}
	return ends
}

// versionsRequest finds the first ApiVersions request of a client: the position of the last byte of
// its correlation id, which stands in the answer too, and the turn.
func versionsRequest(t *testing.T, recording []byte, ends []int, client string) (at, turn int) {
	t.Helper()
	name := append(binary.BigEndian.AppendUint16(nil, uint16(len(client))), client...)
	for from := 0; ; {
		i := bytes.Index(recording[from:], name)
		require.GreaterOrEqual(t, i, 0, "no ApiVersions request of %s", client)
		at = from + i
		if binary.BigEndian.Uint16(recording[at-8:]) == 18 {
			break
		}
		from = at + len(name)
	}
	for ends[turn] < at {
		turn++
	}
	require.Less(t, at, ends[turn]-recordedHashBytes, "the request stands before the hash")
	return at - 1, turn + 1
}

// requireDivergence changes one bit of a recording and requires that a replay stops at turn.
func requireDivergence(t *testing.T, recording []byte, at, turn int) {
	t.Helper()
	changed := bytes.Clone(recording)
	changed[at] ^= 1
	file := filepath.Join(t.TempDir(), "changed")
	require.NoError(t, os.WriteFile(file, changed, 0o600))
	code, out := replay(t, file)
	require.Equal(t, exitDivergent, code, out)
	require.Contains(t, out, fmt.Sprintf("turn %d of the ", turn))
	require.Contains(t, out, fmt.Sprintf("FAIL nondeterminism record=%s turns=%d ", file, turn))
}
