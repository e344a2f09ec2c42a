package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// small runs a little world of tasks and draws into a trace.
func small(seed uint64, arrange func(*Trace)) string {
	e := NewEntropy(seed)
	trace := NewTrace(e)
	if arrange != nil {
		arrange(trace)
	}
	s := NewScheduler(trace)
	defer s.Close()
	for p := Place(1); p <= 3; p++ {
		stream := e.Stream("test", p)
		s.Spawn(0, s.NewOwner(p), "walker", func() {
			for range 20 {
				s.Await(stream.Delay(1, 1000))
				trace.Record(Record{
					Place: p, Kind: KindNote, What: "step", A: stream.Between(0, 9),
					Payload: []byte{1, 2, 3},
				})
			}
		})
	}
	s.RunUntil(Never, nil)
	sum, _ := trace.Finish()
	return sum.String()
}

func TestOneSeedHasOneHash(t *testing.T) {
	require.Equal(t, small(1, nil), small(1, nil))
	require.NotEqual(t, small(1, nil), small(2, nil))
}

func TestHashIsTheSameWithAWriter(t *testing.T) {
	var out bytes.Buffer
	for _, verbose := range []bool{false, true} {
		require.Equal(t, small(1, nil), small(1, func(tr *Trace) {
			tr.WriteTo(&out, Header{Scenario: "small", Seed: "0x1"}, verbose)
		}))
	}
}

func TestHashSeesADrawThatChangesNothingElse(t *testing.T) {
	run := func(extra bool) string {
		e := NewEntropy(1)
		trace := NewTrace(e)
		s := NewScheduler(trace)
		s.At(1, 0, KindTimer, func() {
			if extra {
				e.Stream("unused", 0).Uint64()
			}
		})
		s.At(2, 0, KindTimer, func() {})
		s.RunUntil(Never, nil)
		return trace.Sum().String()
	}
	require.NotEqual(t, run(false), run(true))
}

func TestTraceIsLinesOfJSONWithHeaderAndHash(t *testing.T) {
	var out bytes.Buffer
	sum := small(9, func(tr *Trace) {
		tr.WriteTo(&out, Header{Stet: "dev", Commit: "c", Scenario: "small", Seed: "9"}, true)
	})
	var lines []map[string]any
	for scan := bufio.NewScanner(&out); scan.Scan(); {
		var line map[string]any
		require.NoError(t, json.Unmarshal(scan.Bytes(), &line), scan.Text())
		lines = append(lines, line)
	}
	require.Equal(t, "small", lines[0]["scenario"])
	require.NotEmpty(t, lines[0]["go"])
	require.Equal(t, map[string]any{"hash": sum}, lines[len(lines)-1])
	require.Len(t, sum, 32)
	middle := lines[1]
	for _, key := range []string{"i", "t", "node", "kind", "h"} {
		if key != "t" || middle["t"] != nil {
			require.Contains(t, middle, key)
		}
	}
}

func TestFirstDivergenceIsFoundBehindTheHeader(t *testing.T) {
	trace := func(seed uint64, commit string) *bytes.Buffer {
		var out bytes.Buffer
		small(seed, func(tr *Trace) { tr.WriteTo(&out, Header{Commit: commit}, true) })
		return &out
	}
	_, differ, err := FirstDivergence(trace(1, "a"), trace(1, "b"))
	require.NoError(t, err)
	require.False(t, differ, "the header is no part of the run")
	d, differ, err := FirstDivergence(trace(1, "a"), trace(2, "a"))
	require.NoError(t, err)
	require.True(t, differ)
	require.Greater(t, d.Line, 1)
	require.NotEqual(t, d.A, d.B)
	full := trace(1, "a")
	short := bytes.NewBuffer(full.Bytes()[:bytes.LastIndexByte(full.Bytes()[:full.Len()-1], '\n')+1])
	d, differ, _ = FirstDivergence(full, short)
	require.True(t, differ)
	require.Empty(t, d.B)
}
