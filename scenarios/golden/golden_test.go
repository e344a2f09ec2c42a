package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts of the scripts anew")

// TestScripts runs every script of testdata and compares its transcript. It must not depend on the
// seed: what a script shows is the protocol's doing, not the dice's.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			got, err := Run(string(content), 1)
			require.NoError(t, err)
			if *rewrite {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			} else {
				require.Equal(t, string(content), got)
			}
			other, err := Run(string(content), 2)
			require.NoError(t, err)
			require.Equal(t, got, other, "with another seed")
		})
	}
}

func TestATranscriptIsReplacedAndCommentsStay(t *testing.T) {
	got, err := Run("# Why.\n\n# More.\nnodes 2\nstart n2\n----\nn1: lies\n\n\nadvance 1s\n----\n", 1)
	require.NoError(t, err)
	require.Equal(t, "# Why.\n\n# More.\nnodes 2\nstart n2\n----\nn2: ready\n\nadvance 1s\n----\n",
		got)
}

func TestACommandThatMakesNoSenseIsNamedWithItsLine(t *testing.T) {
	for command, complaint := range map[string]string{
		"jump n1":                           "no such command",
		"start n9":                          `"n9" is no node`,
		"kill n1 now":                       "kill takes no [now]",
		"advance 1s now=1":                  "advance takes no [now]",
		"start n1":                          "n1 runs already",
		"advance soon":                      `"soon" is no duration`,
		"produce c1 orders a":               `"orders" is no partition, such as orders-0`,
		"produce c1 orders-0":               "it wants values",
		"produce c1 orders-0 a acks=2":      "acks are all, 1 or 0",
		"produce c1 orders-0 a producer=p1": `"p1" is no producer`,
		"fetch c2 orders-0@0":               `"c2" is no client`,
		"fetch c1 orders-0@0 session=old":   "a session is new, next, again or close",
		"fetch c1 orders-0":                 `"" is no number`,
		"fault n1 sink 1 of a eio":          `"sink" is unknown`,
		"fault n1 sync 1 of a boom":         `"boom" is unknown`,
		"flip n1 orders-0/0.log byte=1":     "orders-0/00000000000000000000.log has no byte 1",
		"cut c1 n7":                         `"n7" is neither a node nor a client`,
		"cut n1>n7":                         `"n7" is neither a node nor a client`,
		"wipe n1":                           "n1 runs",
		"await n1 rules":                    `"rules" stands where leads should`,
		"lose n1 all MsgPop":                `"MsgPop" is no kind of raft's messages`,
		"lose n1 n2 MsgApp":                 `"n2" is neither a node nor a client`,
		"raft n2":                           `"n2" is no node`,
		"hold n1 n1 Fetch":                  `"Fetch" is no kind of request that can be held`,
		"replicas orders":                   `"orders" is no partition, such as orders-0`,
		"create c1 orders replicas=n1,n4":   `"n4" is no node`,
		"nodes 1 segment.bytes=x":           `"x" is no number`,
		"nodes 1 flush.messages=x":          "flush.messages",
	} {
		_, err := Run("# Head.\nnodes 1\nstart n1\ndial c1 n1\n----\n\n"+command+"\n----\n", 1)
		require.ErrorContains(t, err, "line 7: "+command+": ")
		require.ErrorContains(t, err, complaint)
	}
	_, err := Run("nodes 1\n\nkill n1\n", 1)
	require.ErrorContains(t, err, "line 1: nodes 1: no line of dashes stands below it")
}
