package story

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
	"stet/scenarios/schedule"
)

const small = `stet schedule 1
scenario single-node-kill
seed 0x5

topic partitions=1 side=false
clients pause=10ms..10ms impatience=1s..1s
end idle=1s clean-stop=false
node broker.index-write-entries=1

producer p2 partitions=1 acks=-1 idempotent=true in-flight=1 attempts=1 give-up=1m40s pipelined-retries=false first-sequence=0 codec=1 across-partitions=false ack-timeout-ms=30000
  send 14 to 0 +0s 0@0 5@0
  send 15 to 0 +0s 0@0

consumer c100 partitions=1 committed=false sessions=true from-latest=false max-wait-ms=10 min-bytes=1 max-bytes=1048576 partition-max-bytes=1048576 pace=1ms..1ms

fault n1 write 2 of orders-0/00000000000000000000.log: kill n1 down=5ms
`

func page(t *testing.T, text string) string {
	t.Helper()
	s, err := schedule.Parse(strings.NewReader(text))
	require.NoError(t, err)
	scenario, _ := scenarios.Find(s.Scenario)
	var trace, out bytes.Buffer
	r := scenarios.Run(scenario, s.Seed, scenarios.Options{Schedule: s, Trace: &trace})
	require.Equal(t, scenarios.Passed, r.Check, r.Evidence)
	require.Empty(t, r.Missed)
	r.Check, r.Evidence = "S1", []string{"L1: too late", "S1: the log is short"}
	require.NoError(t, Tell(&out, s, r, &trace))
	return out.String()
}

// TestThePageTellsWhatHappened has a kill between two sends: who sent, what struck, what the node did
// and what the check says stand there, in this order.
func TestThePageTellsWhatHappened(t *testing.T) {
	text := page(t, small)
	at := 0
	for _, want := range []string{
		"S1 fails in scenario single-node-kill: kill -9 of one node",
		"1 partition, 1 producer, 2 sends, 1 reader, 1 fault.",
		"It takes broker.index-write-entries=1",
		"p2: acks=-1, idempotent true, 1 in flight.",
		"p2: send 14 (2 records, sequence 0 to 1) for partition 0 reaches the node",
		"n1 writes bytes 0 to", "of orders-0/0.log",
		"p2 hears that send 14 is at offset 0",
		"p2: send 15 (1 record, sequence 2) for partition 0 reaches the node",
		"FAULT: ", "n1 dies: ", "n1 starts, for the second time", "n1 recovers orders-0",
		"p2: send 15 (1 record, sequence 2, try 2)",
		"p2 hears that send 15 is at offset 2",
		"every send is answered",
		"S1 says:\n  S1: the log is short\n  L1: too late\n",
	} {
		next := strings.Index(text[at:], want)
		require.GreaterOrEqual(t, next, 0, "%q after\n%s\nof\n%s", want, text[:at], text)
		at += next
	}
}

// TestThePageIsOnePage sends much more than fits.
func TestThePageIsOnePage(t *testing.T) {
	var more strings.Builder
	for n := range 300 {
		more.WriteString("  send " + strings.Repeat("1", 1+n%3) + " to 0 +0s 0@0\n")
	}
	text := page(t, strings.Replace(small, "\nconsumer", more.String()+"\nconsumer", 1))
	require.LessOrEqual(t, strings.Count(text, "\n"), 60)
	require.Contains(t, text, "lines left out)")
	require.Contains(t, text, "n1 dies: ")
}
