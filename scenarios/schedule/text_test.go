package schedule

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
	"stet/sim"
)

// small draws a schedule that uses every form of the text.
func small(t *rapid.T) *Schedule {
	s := &Schedule{World: BaseWorld(), Node: BaseNode(), Header: Header{Scenario: "x", Seed: rapid.Uint64().Draw(t, "seed")}}
	s.Topic.Partitions = 3
	s.Clients.Pause = sim.Interval{Low: 1, High: sim.Time(rapid.Int64Range(1, 1<<40).Draw(t, "pause"))}
	s.Node.Broker.Topic.SegmentBytes = rapid.Int32().Draw(t, "segment")
	s.Node.Broker.CheckpointInterval = 7
	s.World.Drift, s.World.Pace.LateOf256, s.World.Disk.Sync.High = -5, 9, sim.Second
	p := Producer{ID: 1}
	p.Partitions, p.InFlight, p.Attempts = 3, 5, 1
	for n := range rapid.IntRange(0, 5).Draw(t, "sends") {
		p.Sends = append(p.Sends, Send{
			Number: n + 1, Partition: kafka.PartitionID(n % 3), After: sim.Time(n),
			Records: []Record{{n, int64(-n), n % 3}, {}},
		})
	}
	s.Producers = append(s.Producers, p)
	var c Consumer
	c.ID, c.Partitions = 100, 3
	s.Consumers = append(s.Consumers, c)
	s.Listers = append(s.Listers, Lister{200})
	for range rapid.IntRange(0, 8).Draw(t, "faults") {
		s.Faults = append(s.Faults, fault(t))
	}
	s.Tapes = []sim.Tape{{Stream: "a b@n1", Values: rapid.SliceOfN(rapid.Int64Range(-3, 3), 1, 90).Draw(t, "tape")}}
	return s
}

func fault(t *rapid.T) (f Fault) {
	span := func(name string) sim.Time { return sim.Time(rapid.Int64Range(0, 1<<40).Draw(t, name)) }
	n := func(name string) int { return rapid.IntRange(1, 99).Draw(t, name) }
	f.Do.Node = sim.Place(n("node"))
	f.Do.Verb = rapid.SampledFrom(verbs).Draw(t, "verb")
	switch f.Do.Verb {
	case Kill, Power:
		f.Do.Down = span("down")
	case EIO, Short, Full, Flip, Latent, Misplace:
		f.Do.Bytes = int64(n("bytes"))
	case Slow:
		f.Do.Span = span("span")
	case Hold, Cut, Vanish:
		f.Do.Node = 0
		f.At.Frame = &Frame{From: 1, To: sim.ClientPlace + 4, Response: n("response") > 50, Key: 1, Ordinal: n("frame")}
		if f.Do.Verb == Hold {
			f.Do.Span = span("hold")
		}
		return f
	case Reset:
		f.Do.Node, f.Do.Client = 0, sim.ClientPlace+1
	case Stall:
		f.Do.Client, f.Do.Span, f.Do.Both = sim.ClientPlace+1, span("stall"), n("both") > 50
	case Clock, Pause:
		f.Do.Span = span("span")
	case SlowDisk:
		f.Do.Span, f.Do.By = span("span"), span("by")
	}
	switch f.Do.Verb {
	case EIO, Short, Full, Slow, Flip, Latent, Misplace, Power:
		f.At.Call = &Call{Place: f.Do.Node, Kind: sim.DiskSyncDir, Ordinal: n("call"), Path: "orders-0"}
	default:
		f.At.Request, f.At.Delay = &Request{n("p"), n("send"), n("try")}, span("delay")
	}
	if f.Do.Verb == Power {
		f.Do.Remains = sim.Remains{
			Names: []sim.NamesKept{{First: `rename "a" b`, Kept: n("kept")}},
			Files: []sim.FileKept{{Name: "x/y", Size: 7, Pages: []sim.PageKept{
				{Index: 0, Fate: sim.Uniform(sim.SectorNew)}, {Index: 3, Fate: sim.PageFate{1, 2, 0, 1}},
			}}},
		}
	}
	return f
}

func TestTextComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := small(t)
		back, err := Parse(strings.NewReader(s.String()))
		require.NoError(t, err, s.String())
		require.Equal(t, s.String(), back.String())
		require.Equal(t, s, back)
	})
}

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	head := magic + "\ntopic partitions=2\n"
	for text, want := range map[string]string{
		"":                                  "line 1: the file is empty",
		"hello":                             "line 1: \"hello\": not a schedule",
		head + "node broker.no=1":           "line 3: \"broker.no\": no such setting: there are broker.node-id",
		head + "weather fine":               "line 3: \"weather\": a line begins with scenario",
		head + "topic partitions=x":         "line 3: partitions=x: not a int32",
		head + "clients pause=5ms..1ms":     "line 3: pause=5ms..1ms: give two times",
		head + "producer q1":                "line 3: producer \"q1\": the name is p and a number",
		head + "  send 1 to 0 +0s 1@1":      "line 3: \"send\": below \"topic\" stands no such line",
		head + "fault p1.1 +1ms: eio":       "line 3: eio: comes at a call of a disk",
		head + "fault p1.1 +1ms: kill":      "line 3: kill: say whom it hits",
		head + "fault p1.1 1ms: kill n1":    "line 3: \"p1.1 1ms\": when is",
		head + "fault n1 dance 1 of x: eio": "line 3: \"n1 dance 1 of x\": when is",
		head + "fault n1 sync 1 of x: burn": "line 3: \"burn\": what happens is one of",
		head + "producer p1 in-flight=1 attempts=1\n  send x to 0 +0s 1@1": "give NUMBER to PARTITION",
		head + "producer p1 in-flight=1 attempts=1\n  send 1 to 2 +0s 1@1": "p1 send 1: partition 2 of 2",
		head + "consumer c1\nlister c1":                                    "client 1: the number is taken",
		magic + "\n":                                                       "topic partitions=0",
		head + "tape a\n 3*x":                                              "line 4: \"3*x\": a tape has integers",
		head + "tape a\n 4000000000*1":                                     "line 4: \"4000000000*1\": a tape has integers",
	} {
		_, err := Parse(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(magic + "\ntopic partitions=2\nproducer p1 in-flight=1 attempts=1\n  send 1 to 0 +0s 1@1#2\n" +
		"fault n1 sync 2 of a: power n1 down=1ms\n  keep names 1 of \"create x\"\n  keep file a size=7 0:n 1:onnnoooo\n" +
		"fault p1.1 try 2 +1ms: stall n1<->c1 3ms\nfault n1->c1 Fetch response 3: hold 1ms\ntape b\n 1 2*3\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		back, err := Parse(strings.NewReader(s.String()))
		require.NoError(t, err, s.String())
		require.Equal(t, s.String(), back.String())
	})
}
