//go:build live

package live

import (
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/bench/load"
)

var logsReason = flag.Bool("logs-reason", true, "the broker logs why it ends a connection")

// hostile frames, length prefix included. A broker has to end the connection of each.
var hostile = []struct {
	name  string
	bytes func() []byte
}{
	{"length of two gigabytes", func() []byte { return []byte{0x7f, 0xff, 0xff, 0xff, 0, 3} }},
	{"negative length", func() []byte { return []byte{0xff, 0xff, 0xff, 0xff} }},
	{"frame of no bytes", func() []byte { return []byte{0, 0, 0, 0} }},
	{"half a header", func() []byte { return []byte{0, 0, 0, 3, 0, 3, 0} }},
	{"not Kafka at all", func() []byte { return []byte("GET / HTTP/1.1\r\nHost: broker\r\n\r\n") }},
	{"unknown key", func() []byte { return header(9999, 0, nil) }},
	{"unknown version", func() []byte { return header(3, 999, nil) }},
	{"Metadata of five million empty names", func() []byte {
		body := binary.BigEndian.AppendUint32(nil, 5_000_000)
		return header(3, 1, append(body, make([]byte, 10_000_000)...))
	}},
	{"array longer than the frame", func() []byte {
		return header(3, 1, binary.BigEndian.AppendUint32(nil, 1<<31-1))
	}},
	{"Produce cut in the middle", func() []byte {
		whole := load.AppendFrame(nil, load.ProduceRequest("t", 0, -1, load.BatchOf([]byte("v"))), 1)
		cut := whole[:len(whole)-20]
		binary.BigEndian.PutUint32(cut, uint32(len(cut)-4))
		return cut
	}},
	{"Produce that says its records are longer than the frame", func() []byte {
		batch := load.BatchOf([]byte("v"))
		whole := load.AppendFrame(nil, load.ProduceRequest("t", 0, -1, batch), 1)
		const tags = 3 // empty tags of the partition, the topic and the request close the frame
		whole[len(whole)-tags-len(batch)-1] = 0x7f
		return whole
	}},
}

// header builds a frame by hand, with a client id of null.
func header(key, version int16, body []byte) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(10+len(body)))
	frame = binary.BigEndian.AppendUint16(frame, uint16(key))
	frame = binary.BigEndian.AppendUint16(frame, uint16(version))
	frame = binary.BigEndian.AppendUint32(frame, 1)
	frame = binary.BigEndian.AppendUint16(frame, 0xffff)
	return append(frame, body...)
}

// TestHostileBytesEndOnlyTheirConnection sends each on a connection of its own, while a neighbour
// goes on, and looks at the broker's memory afterwards.
func TestHostileBytesEndOnlyTheirConnection(t *testing.T) {
	b := startBroker(t)
	createTopic(t, b, "neighbour", 1, nil)
	neighbour := dial(t, b)
	before, err := pssKB(b.Pid())
	require.NoError(t, err)
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			logged := fileSize(t, b.LogFile)
			requireHangup(t, b, h.bytes())
			resp, err := neighbour.Do(load.ProduceRequest("neighbour", 0, -1, load.BatchOf([]byte("v"))))
			require.NoError(t, err)
			require.NoError(t, load.ProduceError(resp.(*kmsg.ProduceResponse)))
			require.Eventually(t, func() bool {
				return !*logsReason || fileSize(t, b.LogFile) > logged
			}, 5*time.Second, 10*time.Millisecond, "no reason in the log")
		})
	}
	// A client that stops in the middle of a frame holds nothing but its connection.
	for range 100 {
		c, err := net.Dial("tcp", b.Address)
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		_, err = c.Write([]byte{0, 0, 64, 0, 0, 0})
		require.NoError(t, err)
	}
	_, err = neighbour.Do(load.ProduceRequest("neighbour", 0, -1, load.BatchOf([]byte("v"))))
	require.NoError(t, err)
	after, err := pssKB(b.Pid())
	require.NoError(t, err)
	t.Logf("hostile: frames=%d pss_kb_before=%d pss_kb_after=%d", len(hostile), before, after)
	require.Less(t, after-before, 150_000)
}

// requireHangup sends bytes and waits for the end of the connection, whatever is answered first.
func requireHangup(t *testing.T, b *Broker, frame []byte) {
	t.Helper()
	c, err := net.Dial("tcp", b.Address)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	_, _ = c.Write(frame) // the broker may hang up before it has read everything
	_, err = io.Copy(io.Discard, c)
	require.False(t, errors.Is(err, os.ErrDeadlineExceeded), "the connection is still open")
}

func fileSize(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	require.NoError(t, err)
	return info.Size()
}
