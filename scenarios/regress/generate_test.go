package regress

import (
	"fmt"

	"stet/core/kafka"
	"stet/core/record"
	"stet/scenarios/schedule"
	"stet/sim"
	"stet/sim/client"
)

// chooser makes the choices that a schedule is made of. Lower is simpler.
type chooser interface {
	// upTo returns a number from 0 to n.
	upTo(n int, what string) int
}

func pick[T any](c chooser, what string, values ...T) T { return values[c.upTo(len(values)-1, what)] }

// kinds are scenarios, and the faults that each has promises for.
var kinds = []struct {
	scenario string
	atCalls  []schedule.Verb
	others   []schedule.Verb // at a request or a frame
}{
	{
		"single-node-kill",
		[]schedule.Verb{schedule.Kill},
		[]schedule.Verb{
			schedule.Kill, schedule.Pause, schedule.SlowDisk, schedule.Clock, schedule.Stall, schedule.Reset,
			schedule.Hold, schedule.Cut, schedule.Vanish,
		},
	},
	{
		"single-node-power-loss",
		[]schedule.Verb{schedule.Power, schedule.Kill},
		[]schedule.Verb{schedule.Power, schedule.Kill, schedule.Clock, schedule.Pause, schedule.Cut},
	},
	{
		"disk-faults",
		[]schedule.Verb{schedule.EIO, schedule.Short, schedule.Full, schedule.Slow, schedule.Kill},
		[]schedule.Verb{schedule.Kill, schedule.SlowDisk, schedule.Cut},
	},
}

// Bounds of generated schedules.
const (
	mostSends  = 12
	mostFaults = 4
)

// generate makes a small valid schedule.
func generate(c chooser) *schedule.Schedule {
	kind := kinds[c.upTo(len(kinds)-1, "scenario")]
	s := &schedule.Schedule{Node: schedule.BaseNode(), World: schedule.BaseWorld()}
	s.Scenario = kind.scenario
	s.Seed = uint64(c.upTo(3, "seed"))
	s.Topic.Partitions = int32(1 + c.upTo(1, "partitions"))
	s.Clients = schedule.Clients{
		Pause:      sim.Interval{Low: sim.Millisecond, High: 5 * sim.Millisecond},
		Impatience: sim.Interval{Low: 100 * sim.Millisecond, High: pick(c, "impatience", sim.Second, 200*sim.Millisecond)},
	}
	s.End = schedule.End{Idle: sim.Second, CleanStop: c.upTo(1, "clean stop") == 1}
	t := &s.Node.Broker.Topic
	t.SegmentBytes = pick(c, "segment", t.SegmentBytes, 2<<10)
	t.IndexIntervalBytes = pick(c, "index interval", t.IndexIntervalBytes, 1)
	t.FlushMessages = pick(c, "flush", t.FlushMessages, 1)
	s.Node.Broker.IndexWriteEntries = pick(c, "index write", 64, 1)
	for id := range 1 + c.upTo(1, "producers") {
		s.Producers = append(s.Producers, producer(c, s, id+1))
	}
	if c.upTo(1, "consumer") == 1 {
		s.Consumers = []schedule.Consumer{{ID: 100, ConsumerConfig: client.ConsumerConfig{
			Partitions: s.Topic.Partitions, Sessions: true, MaxWaitMs: 10, MinBytes: 1, MaxBytes: 1 << 20,
			PartitionMaxBytes: 1 << 20, Pace: sim.Interval{Low: sim.Millisecond, High: 5 * sim.Millisecond},
		}}}
	}
	for range c.upTo(mostFaults, "faults") {
		s.Faults = append(s.Faults, fault(c, s, kind.atCalls, kind.others))
	}
	return s
}

func producer(c chooser, s *schedule.Schedule, id int) schedule.Producer {
	p := schedule.Producer{ID: id, ProducerConfig: client.ProducerConfig{
		Partitions: s.Topic.Partitions, Acks: -1, InFlight: 1 + c.upTo(4, "in flight"), Attempts: 3,
		GiveUp: 100 * sim.Second, Idempotent: c.upTo(1, "idempotent") == 1, AckTimeoutMs: 30_000,
		PipelinedRetries: c.upTo(1, "pipelined") == 1, Codec: pick(c, "codec", record.None, record.LZ4),
	}}
	if p.Idempotent && c.upTo(1, "wraps") == 1 {
		p.FirstSequence = kafka.Sequence(1<<31 - 1 - c.upTo(5, "before the wrap"))
	}
	for n := range c.upTo(mostSends, "sends") {
		send := schedule.Send{
			Number: n + 1, Partition: kafka.PartitionID(c.upTo(int(s.Topic.Partitions)-1, "partition")),
			After: sim.Time(c.upTo(20, "after")) * sim.Millisecond,
		}
		for range 1 + c.upTo(2, "records") {
			send.Records = append(send.Records, schedule.Record{Bytes: 100 * c.upTo(5, "bytes")})
		}
		p.Sends = append(p.Sends, send)
	}
	return p
}

func fault(c chooser, s *schedule.Schedule, atCalls, others []schedule.Verb) (f schedule.Fault) {
	if c.upTo(1, "at a call") == 1 {
		f.At.Call = call(c, s)
		f.Do = action(c, s, pick(c, "verb", atCalls...))
		if f.At.Call.Kind != sim.DiskWrite && (f.Do.Verb == schedule.Short || f.Do.Verb == schedule.Full) {
			f.Do.Verb = schedule.EIO
		}
		return f
	}
	f.Do = action(c, s, pick(c, "verb", others...))
	switch f.Do.Verb {
	case schedule.Hold, schedule.Cut, schedule.Vanish:
		frame := schedule.Frame{
			From: someProducer(c, s), To: 1, Ordinal: 1 + c.upTo(8, "frame"), Key: pick(c, "key", int16(0), 22),
		}
		if frame.Response = c.upTo(1, "response") == 1; frame.Response {
			frame.From, frame.To = frame.To, frame.From
		}
		f.At.Frame = &frame
	default:
		f.At.Request = &schedule.Request{
			Producer: 1 + c.upTo(len(s.Producers)-1, "producer"), Send: 1 + c.upTo(mostSends-1, "send"),
			Try: 1 + c.upTo(1, "try"),
		}
		f.At.Delay = sim.Time(c.upTo(30, "delay")) * 100 * sim.Microsecond
	}
	return f
}

func call(c chooser, s *schedule.Schedule) *schedule.Call {
	dir := fmt.Sprintf("orders-%d", c.upTo(int(s.Topic.Partitions)-1, "directory"))
	return &schedule.Call{
		Place: 1, Ordinal: 1 + c.upTo(9, "ordinal"),
		Kind: pick(c, "call", sim.DiskWrite, sim.DiskSync, sim.DiskRename, sim.DiskCreate, sim.DiskRead),
		Path: dir + pick(c, "file", "/00000000000000000000.log", "/00000000000000000000.index",
			"/00000000000000000000.timeindex", "/leader-epoch-checkpoint.tmp", "/recovery.tmp"),
	}
}

// action makes what a fault does. What a verb has no use for stays 0.
func action(c chooser, s *schedule.Schedule, v schedule.Verb) schedule.Action {
	a := schedule.Action{Verb: v}
	switch v {
	case schedule.Kill, schedule.Power:
		a.Node, a.Down = 1, sim.Time(1+c.upTo(50, "down"))*sim.Millisecond
	case schedule.EIO, schedule.Short, schedule.Full:
		a.Bytes = int64(c.upTo(60, "bytes"))
	case schedule.Slow, schedule.Hold:
		a.Span = sim.Time(c.upTo(100, "span")) * sim.Millisecond
	case schedule.Reset:
		a.Client = someProducer(c, s)
	case schedule.Stall:
		a.Node, a.Client, a.Both = 1, someProducer(c, s), c.upTo(1, "both") == 1
		a.Span = sim.Time(c.upTo(500, "span")) * sim.Millisecond
	case schedule.Clock:
		a.Node, a.Span = 1, sim.Time(c.upTo(120, "step")-60)*sim.Second
	case schedule.Pause, schedule.SlowDisk:
		a.Node, a.Span = 1, sim.Time(c.upTo(500, "span"))*sim.Millisecond
		if v == schedule.SlowDisk {
			a.By = sim.Time(c.upTo(20, "by")) * sim.Millisecond
		}
	}
	return a
}

func someProducer(c chooser, s *schedule.Schedule) sim.Place {
	return sim.ClientPlace + sim.Place(1+c.upTo(len(s.Producers)-1, "client"))
}
