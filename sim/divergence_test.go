package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// traced writes lines of a trace, one payload each.
func traced(payloads ...string) string {
	var out strings.Builder
	t := NewTrace(nil)
	t.WriteTo(&out, Header{Scenario: "x"}, true)
	for i, p := range payloads {
		t.Record(Record{Place: 2, Kind: KindDisk, What: "bytes", A: int64(i), Payload: []byte(p)})
	}
	return out.String()
}

func TestADivergenceShowsBothSidesFromWhereTheyDiffer(t *testing.T) {
	long := strings.Repeat("a", 100)
	same := make([]string, 20)
	for i := range same {
		same[i] = "s"
	}
	d, differ, err := FirstDivergence(strings.NewReader(traced(append(same, long+"b")...)),
		strings.NewReader(traced(append(same, long+"cc")...)))
	require.NoError(t, err)
	require.True(t, differ)
	require.Equal(t, 22, d.Line)
	require.Len(t, d.Before, DivergenceContext)
	require.Contains(t, d.Before[DivergenceContext-1], `"a":19`)
	lines := strings.Split(d.String(), "\n")
	require.Len(t, lines, 1+DivergenceContext+2)
	require.Equal(t, "line 22, event 0 at 0.000000000s on n2, in payload:", lines[0])
	require.Regexp(t, `^       event 0 at 0.000000000s on n2: disk bytes \[12 0 0\] 1 bytes, `+
		`from 0: 73 #`, lines[1])
	require.Regexp(t, `^first  event 0 .* 101 bytes, from 100: 62 #[0-9a-f]{16}$`, lines[9])
	require.Regexp(t, `^second event 0 .* 102 bytes, from 100: 6363 #[0-9a-f]{16}$`, lines[10])
}

func TestADivergenceNamesTheFieldsThatDiffer(t *testing.T) {
	line := `{"i":5,"t":1000000007,"node":"n1","kind":"disk","what":"write","detail":"x","a":3,` +
		`"payload":"00","h":"0f"}`
	for field, other := range map[string]string{
		"number":         strings.Replace(line, `"i":5`, `"i":6`, 1),
		"time":           strings.Replace(line, `1000000007`, `1000000008`, 1),
		"node":           strings.Replace(line, `"n1"`, `"n2"`, 1),
		"kind":           strings.Replace(line, `"disk"`, `"turn"`, 1),
		"operation":      strings.Replace(line, `"write"`, `"sync"`, 1),
		"detail":         strings.Replace(line, `"x"`, `"y"`, 1),
		"numbers":        strings.Replace(line, `"a":3`, `"b":3`, 1),
		"payload":        strings.Replace(line, `"00"`, `"0000"`, 1),
		"the hash alone": strings.Replace(line, `"0f"`, `"1f"`, 1),
		"the whole line": `{"hash":"00"}`,
	} {
		text := Divergence{Line: 9, A: line, B: other}.String()
		require.Contains(t, text, fmt.Sprintf("line 9, event 5 at 1.000000007s on n1, in %s:\n", field))
	}
}

func TestATraceThatHasEndedIsSaidToHave(t *testing.T) {
	full := traced("a", "b")
	short := strings.Join(strings.SplitAfter(full, "\n")[:2], "")
	d, differ, err := FirstDivergence(strings.NewReader(short), strings.NewReader(full))
	require.NoError(t, err)
	require.True(t, differ)
	require.Equal(t, 3, d.Line)
	require.Contains(t, d.String(), "line 3, event 0 at 0.000000000s on n2, in the whole line:")
	require.Contains(t, d.String(), "\nfirst  (the trace has ended)\nsecond event 0 ")
	require.Contains(t, Divergence{}.String(), "on nobody")
}
