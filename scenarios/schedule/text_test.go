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
	cluster := rapid.Bool().Draw(t, "cluster")
	if cluster {
		clusterOf(t, s)
	}
	for range rapid.IntRange(0, 8).Draw(t, "faults") {
		f := fault(t)
		if cluster {
			inCluster(t, &f)
		}
		s.Faults = append(s.Faults, f)
	}
	s.Tapes = []sim.Tape{{Stream: "a b@n1", Values: rapid.SliceOfN(rapid.Int64Range(-3, 3), 1, 90).Draw(t, "tape")}}
	return s
}

func clusterOf(t *rapid.T, s *Schedule) {
	n := func(name string) int { return rapid.IntRange(0, 9).Draw(t, name) }
	for id := range 1 + n("machines") {
		m := Machine{ID: id + 1}
		m.Broker, m.Controller, m.Founder = n("broker") > 4, true, n("founder") > 4
		m.Joins, m.Offset, m.BootLeap, m.Drift = sim.Time(n("joins")), -sim.Second, 3, int64(n("drift"))
		m.Level = int16(n("level"))
		s.Machines = append(s.Machines, m)
	}
	o := Operator{ID: 400}
	for i := range n("operations") {
		o.Operations = append(o.Operations, Operation{
			Number: i + 1, After: sim.Time(n("after")),
			Kind: rapid.SampledFrom(operationKinds).Draw(t, "kind"),
			OperationSettings: OperationSettings{
				n("topic"), n("name") > 4, int32(n("partitions")), int16(n("replicas")), n("node"), int16(n("level")), n("records"), n("via"),
			},
		})
	}
	s.Operators = append(s.Operators, o)
}

// inCluster gives a fault what only those of a cluster have.
func inCluster(t *rapid.T, f *Fault) {
	switch f.Do.Verb {
	case Kill:
		f.Do.Verb = rapid.SampledFrom([]Verb{Kill, Stop, Wipe}).Draw(t, "end")
	case Reset, Stall:
		f.Do.Node, f.Do.Client = 2, 3
	}
	if f.At.Request != nil {
		f.At.Request.Operator = rapid.Bool().Draw(t, "operator")
		if rapid.Bool().Draw(t, "since") {
			f.At.Request, f.At.Since = nil, rapid.SampledFrom([]Moment{Start, Work}).Draw(t, "moment")
		}
	}
	if f.At.Frame != nil {
		f.At.Frame.Key = 30_002
	}
}

func fault(t *rapid.T) (f Fault) {
	span := func(name string) sim.Time { return sim.Time(rapid.Int64Range(0, 1<<40).Draw(t, name)) }
	n := func(name string) int { return rapid.IntRange(1, 99).Draw(t, name) }
	f.Do.Node = sim.Place(n("node"))
	f.Do.Verb = rapid.SampledFrom(verbs[:len(verbs)-2]).Draw(t, "verb") // Stop and Wipe: see inCluster
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
		f.At.Request, f.At.Delay = &Request{Producer: n("p"), Send: n("send"), Try: n("try")}, span("delay")
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
		head + "node broker.no=1":           "line 3: \"broker.no\": no such setting: there are roles.broker",
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
		head + "fault p1.1 +1ms: wipe n1 down=1s":                          "wipe n1 down=1s: only in a cluster",
		head + "fault work +1ms: kill n1":                                  "only in a cluster",
		head + "machine n1 broker=true\nfault n1 sync 1 of x: stop n1":     "stop: can not come at a call",
		head + "machine n1": "machine n1: give it a role",
		head + "machine n1 broker=true\nmachine n1 broker=true": "give each a number of its own",
		head + "operator o1\n  do 1 +1ms dance":                 "there are [create",
		head + "operator o1\n  do 1 create":                     "give NUMBER +AFTER KIND",
		magic + "\n":                                            "topic partitions=0",
		head + "tape a\n 3*x":                                   "line 4: \"3*x\": a tape has integers",
		head + "tape a\n 4000000000*1":                          "line 4: \"4000000000*1\": a tape has integers",
	} {
		_, err := Parse(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(magic + "\ntopic partitions=2\nproducer p1 in-flight=1 attempts=1\n  send 1 to 0 +0s 1@1#2\n" +
		"fault n1 sync 2 of a: power n1 down=1ms\n  keep names 1 of \"create x\"\n  keep file a size=7 0:n 1:onnnoooo\n" +
		"fault p1.1 try 2 +1ms: stall n1<->c1 3ms\nfault n1->c1 Fetch response 3: hold 1ms\n" +
		"machine n2 controller=true joins=1s\noperator o9\n  do 3 +1ms create topic=2 partitions=3\n" +
		"fault o9.3 +1ms: reset n1->n2\nfault work +1s: wipe n2 down=1s\nfault n1->n2 30002 request 1: cut\ntape b\n 1 2*3\n")
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
