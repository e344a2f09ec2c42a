package scenarios

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/sim"
)

// walk writes a trace of so many records, one of which may differ from what the seed would have.
func walk(w io.Writer, records, odd int, payload string) {
	t := sim.NewTrace(nil)
	t.WriteTo(w, sim.Header{Scenario: "walk", Seed: "0x1"}, false)
	for i := range records {
		r := sim.Record{Place: 1, Kind: sim.KindNote, What: "step", A: int64(i)}
		if i == odd {
			r.B, r.Payload = 7, []byte(payload)
			if payload != "" {
				r.B = 0 // not seen in the line, only in the hash
			}
		}
		t.Record(r)
	}
	_, _ = t.Finish()
}

// inStep runs two functions that write traces under the eyes of a judge.
func inStep(runs ...func(io.Writer)) (*sim.Divergence, int, error) {
	var sides [2]stepper
	most := make(chan int, 2)
	for i, run := range runs {
		fromJudge, toRun := io.Pipe()
		fromRun, toJudge := io.Pipe()
		sides[i] = stepper{bufio.NewReader(fromRun), toRun}
		go func() {
			l := NewLockstep(fromJudge, toJudge)
			run(l)
			_ = l.Close()
			toJudge.Close()
			most <- cap(l.window)
		}()
	}
	d, err := locate(sides)
	return d, max(<-most, <-most), err
}

func TestTheFirstDifferenceIsFoundWhereverItLies(t *testing.T) {
	const records = 3*windowLines + 50
	for _, odd := range []int{
		0, 1, 7, 8, 9, windowLines - 2, windowLines - 1, windowLines, windowLines + 3,
		2*windowLines - 1, 3*windowLines + 20, records - 1,
	} {
		for payload, in := range map[string]string{"": "numbers", "x": "the hash alone"} {
			d, most, err := inStep(func(w io.Writer) { walk(w, records, -1, "") },
				func(w io.Writer) { walk(w, records, odd, payload) })
			require.NoError(t, err)
			require.NotNil(t, d)
			require.Equal(t, odd+2, d.Line, "the header is line 1")
			require.Len(t, d.Before, min(odd+1, sim.DivergenceContext))
			require.Contains(t, d.A, `"what":"step"`)
			require.NotEqual(t, d.A, d.B)
			require.Contains(t, d.String(), fmt.Sprintf("line %d, event 0 at 0.000000000s on n1, in %s:\n",
				odd+2, in))
			require.LessOrEqual(t, most, 2*windowLines, "a window is held, and no trace")
		}
	}
}

func TestEqualTracesDoNotDiverge(t *testing.T) {
	for _, records := range []int{0, 1, windowLines - 2, windowLines - 1, windowLines, 5000} {
		run := func(w io.Writer) { walk(w, records, -1, "") }
		d, _, err := inStep(run, run)
		require.NoError(t, err)
		require.Nil(t, d)
	}
}

func TestATraceThatGoesOnDivergesWhereTheOtherEnds(t *testing.T) {
	for _, records := range []int{
		3, windowLines - 3, windowLines - 2, windowLines - 1, windowLines, 5000,
	} {
		d, _, err := inStep(func(w io.Writer) { walk(w, records, -1, "") },
			func(w io.Writer) { walk(w, records+1, -1, "") })
		require.NoError(t, err)
		require.Equal(t, records+2, d.Line)
		require.Contains(t, d.A, `{"hash":"`)
		require.Contains(t, d.B, `"what":"step"`)
	}
}

func TestARunThatEndsBeforeItsTraceIsAnError(t *testing.T) {
	_, err := locate([2]stepper{
		{bufio.NewReader(&deaf{}), io.Discard}, {bufio.NewReader(&deaf{}), io.Discard},
	})
	require.ErrorContains(t, err, "run 1 ended early")
	_, err = Locate(exec.Command("true"), exec.Command("true"))
	require.ErrorContains(t, err, "run 1 ended early")
	_, err = Locate(exec.Command("/no/such/command"), exec.Command("true"))
	require.ErrorContains(t, err, "lockstep: ")
}

// deaf is a run that says nothing.
type deaf struct{}

func (*deaf) Read([]byte) (int, error) { return 0, io.EOF }

func TestARunWhoseJudgeIsGoneEnds(t *testing.T) {
	l := NewLockstep(&deaf{}, io.Discard)
	walk(l, windowLines, -1, "")
	require.ErrorContains(t, l.Close(), "lockstep: EOF")
}

func TestALiveRunInStepIsTheSameRun(t *testing.T) {
	s := singleNodeKill()
	want := Run(s, 3, Options{})
	judge, toRun := io.Pipe()
	fromRun, toJudge := io.Pipe()
	last := make(chan position, 1)
	go func() {
		var at position
		for in := bufio.NewReader(fromRun); at.what != "end"; {
			if _, err := fmt.Fscanf(in, "%s %d %s\n", &at.what, &at.lines, &at.hash); err != nil {
				break
			}
			_, _ = io.WriteString(toRun, "on\n")
		}
		last <- at
	}()
	l := NewLockstep(judge, toJudge)
	got := Run(s, 3, Options{Trace: l})
	require.NoError(t, l.Close())
	require.Equal(t, want.Hash, got.Hash)
	require.Equal(t, want.Hash, (<-last).hash)
}
