package shrink

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stet/core/record"
	"stet/scenarios"
	"stet/scenarios/schedule"
	"stet/sim"
	"stet/sim/client"
)

// fake runs no schedule: it asks a predicate, and takes its time.
type fake struct {
	check func(*schedule.Schedule) scenarios.Check
	runs  *atomic.Int64
}

func (f fake) Run(ctx context.Context, t Trial) (*scenarios.Result, error) {
	f.runs.Add(1)
	time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r := &scenarios.Result{Check: f.check(t.Schedule)}
	for _, at := range t.Schedule.Faults {
		if at.At.Request != nil && at.At.Request.Send > 1000 {
			r.Missed = append(r.Missed, at.String())
		}
	}
	return r, nil
}

// large is a schedule with a good deal of everything.
func large() *schedule.Schedule {
	s := &schedule.Schedule{
		Topic: schedule.Topic{Partitions: 3, Side: true}, Node: schedule.BaseNode(),
		World: schedule.BaseWorld(),
	}
	s.Scenario = "single-node-kill"
	s.Node.Broker.Topic.SegmentBytes, s.Node.Broker.RecoveryJobs = 2048, 7
	for p := 1; p <= 3; p++ {
		producer := schedule.Producer{ID: p, ProducerConfig: client.ProducerConfig{
			Partitions: 3, InFlight: 5, Attempts: 3, Codec: record.LZ4,
		}}
		for n := 1; n <= 100; n++ {
			producer.Sends = append(producer.Sends, schedule.Send{
				Number: n, Partition: 0, After: 1234567,
				Records: []schedule.Record{{Bytes: 12, Stamp: 3, Key: 1}, {Bytes: n}},
			})
		}
		s.Producers = append(s.Producers, producer)
	}
	for i := range 20 {
		s.Faults = append(s.Faults, schedule.Fault{
			At: schedule.Anchor{Request: &schedule.Request{Producer: 1 + i%3, Send: i * 100, Try: 1}, Delay: 777},
			Do: schedule.Action{Verb: schedule.Power, Node: 1, Down: 123456789},
		})
	}
	s.Consumers = []schedule.Consumer{{ID: 100}, {ID: 101}}
	s.Listers = []schedule.Lister{{ID: 200}}
	s.Tapes = []sim.Tape{{Stream: "a", Values: []int64{1, 2, 3}}, {Stream: "b", Values: []int64{4}}}
	return s
}

func sends(s *schedule.Schedule) (list []int) {
	for _, p := range s.Producers {
		for _, send := range p.Sends {
			list = append(list, p.ID*1000+send.Number)
		}
	}
	return list
}

// planted fails S1 when three sends and two faults are there, or H1 when another fault is left and
// the sends are few.
func planted(s *schedule.Schedule) scenarios.Check {
	list := sends(s)
	for _, n := range []int{1017, 1044, 3090} {
		if !slices.Contains(list, n) {
			if len(list) < 50 && len(s.Faults) > 0 {
				return "H1"
			}
			return scenarios.Passed
		}
	}
	found := 0
	for _, f := range s.Faults {
		if r := f.At.Request; r.Send == 300 || r.Send == 700 {
			found++
		}
	}
	if found == 2 && s.Node.Broker.RecoveryJobs == 7 {
		return "S1"
	}
	return scenarios.Passed
}

func run(t *testing.T, s *schedule.Schedule, jobs int, check func(*schedule.Schedule) scenarios.Check) (
	*Report, int64,
) {
	t.Helper()
	var runs atomic.Int64
	k := Shrink{}
	for range jobs {
		k.Runners = append(k.Runners, fake{check, &runs})
	}
	report, err := k.Run(context.Background(), s)
	require.NoError(t, err)
	return report, runs.Load()
}

// TestShrinkIsMinimalWhateverTheJobs plants a failure in a large schedule: what is left of it is what
// it takes, the same with one and with four at a time.
func TestShrinkIsMinimalWhateverTheJobs(t *testing.T) {
	before := large()
	text := before.String()
	one, _ := run(t, before, 1, planted)
	require.Equal(t, text, before.String(), "the origin stays as it is")
	require.True(t, one.Minimal)
	require.EqualValues(t, "S1", one.Check)
	require.Equal(t, []int{1017, 1044, 3090}, sends(one.After))
	require.Len(t, one.After.Faults, 2)
	for _, f := range one.After.Faults {
		require.Contains(t, []int{300, 700}, f.At.Request.Send)
		require.Equal(t, schedule.Kill, f.Do.Verb, "a milder fault does")
		require.Equal(t, 10*sim.Millisecond, f.Do.Down)
		require.Zero(t, f.At.Delay)
	}
	require.Equal(t, 3, one.After.OperationCount())
	require.EqualValues(t, 1, one.After.Topic.Partitions)
	require.False(t, one.After.Topic.Side)
	require.Empty(t, one.After.Tapes)
	base := schedule.BaseNode()
	base.Broker.RecoveryJobs = 7
	require.Equal(t, base, one.After.Node, "all other settings are as always")
	for _, p := range one.After.Producers {
		require.Equal(t, record.None, p.Codec)
		require.Equal(t, 1, p.InFlight)
		for _, send := range p.Sends {
			require.Equal(t, []schedule.Record{{}}, send.Records)
		}
	}
	for range 5 {
		four, _ := run(t, before, 4, planted)
		require.Equal(t, one.After.String(), four.After.String())
	}
}

// TestShrinkDropsWhatHadNoEffect leaves out faults that never came, without asking for each.
func TestShrinkDropsWhatHadNoEffect(t *testing.T) {
	report, _ := run(t, large(), 2, func(s *schedule.Schedule) scenarios.Check {
		if len(s.Faults) >= 11 { // 9 of the 20 have an anchor above 1000, and may go only together
			return "S1"
		}
		return scenarios.Passed
	})
	require.Len(t, report.After.Faults, 11)
	for _, f := range report.After.Faults {
		require.LessOrEqual(t, f.At.Request.Send, 1000)
	}
}

// TestShrinkOfWhatPasses is no shrinking.
func TestShrinkOfWhatPasses(t *testing.T) {
	report, runs := run(t, large(), 2, func(*schedule.Schedule) scenarios.Check { return scenarios.Passed })
	require.Equal(t, scenarios.Passed, report.Check)
	require.EqualValues(t, 1, runs)
}

// TestShrinkEndsInTime gives back what it has when the time is up.
func TestShrinkEndsInTime(t *testing.T) {
	var runs atomic.Int64
	slow := func(s *schedule.Schedule) scenarios.Check {
		time.Sleep(10 * time.Millisecond)
		return planted(s)
	}
	k := Shrink{Runners: []Runner{fake{slow, &runs}}, Budget: 100 * time.Millisecond}
	report, err := k.Run(context.Background(), large())
	require.NoError(t, err)
	require.False(t, report.Minimal)
	require.EqualValues(t, "S1", planted(report.After))
	require.Less(t, report.Wall, 5*time.Second)
}

// TestAPanicIsTheSameOnlyFromTheSamePlace tells panics apart by what they say and where.
func TestAPanicIsTheSameOnlyFromTheSamePlace(t *testing.T) {
	result := func(text string) *scenarios.Result {
		return &scenarios.Result{Check: scenarios.Panic, Evidence: []string{"panic: " + text}}
	}
	same := sameFailure(result("offset 17 is missing\nstet/core/log.Read(0x1)"))
	require.True(t, same(result("offset 4 is missing\nstet/core/log.Read(0x2)")))
	require.False(t, same(result("offset 4 is missing\nstet/core/log.Write(0x2)")))
	require.False(t, same(result("nil map\nstet/core/log.Read(0x2)")))
}

// TestEditsLeaveTheOriginAlone makes every edit of every pass alone: none may write into what a clone
// shares with its origin, and each gives a schedule that reads back.
func TestEditsLeaveTheOriginAlone(t *testing.T) {
	s := large()
	for i := range s.Producers {
		s.Producers[i].Sends = s.Producers[i].Sends[:3]
	}
	s.Producers[0].Idempotent, s.Producers[0].FirstSequence = true, 1<<30
	s.End.CleanStop = true
	s.Faults[0] = schedule.Fault{
		At: schedule.Anchor{Call: &schedule.Call{
			Place: 1, Kind: sim.DiskSync, Ordinal: 9, Path: "orders-2/00000000000000000123.log",
		}},
		Do: schedule.Action{Verb: schedule.Power, Node: 1, Down: 5, Remains: sim.Remains{
			Names: []sim.NamesKept{{First: "create x", Kept: 1}, {First: "create y", Kept: 2}},
			Files: []sim.FileKept{{Name: "orders-2/x", Size: 3, Pages: []sim.PageKept{
				{Index: 1, Fate: sim.Uniform(sim.SectorNew)}, {Index: 2, Fate: sim.PageFate{1}},
			}}},
		}},
	}
	s.Faults[1].At = schedule.Anchor{Frame: &schedule.Frame{From: 1, To: sim.ClientPlace + 1, Ordinal: 30}}
	s.Faults[1].Do = schedule.Action{Verb: schedule.Hold, Span: 17}
	s.Machines, s.Operators = largeCluster().Machines, largeCluster().Operators
	text := s.String()
	for _, p := range passes() {
		list := p.choices
		if list == nil {
			list = p.edits
		}
		edits := list(s)
		require.NotEmpty(t, edits, p.name)
		for i := range edits {
			c := edited(s, edits, []int{i})
			require.True(t, text == s.String(), p.name)
			require.True(t, text != c.String(), "%s %d changes nothing", p.name, i)
			_, err := schedule.Parse(strings.NewReader(c.String()))
			require.NoError(t, err, "%s %d", p.name, i)
		}
	}
}
