// Package schedule is a run of a scenario as data: what the node is started with, what clients do,
// and which faults come when, told by their meaning and not by their place in a random stream.
//
// A schedule is written by a run of a seed, replays that run exactly, can be read and edited by hand,
// is what shrinking works on, and stays valid when a change of the code moves random draws. Format
// and Parse translate it to and from text.
package schedule

import (
	"time"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/kafka"
	"stet/node"
	"stet/sim"
	"stet/sim/client"
)

// Schedule is everything that decides a run, with where it comes from.
type Schedule struct {
	Header
	Topic     Topic
	Clients   Clients
	End       End
	World     World
	Node      node.Config
	Producers []Producer
	Consumers []Consumer
	Listers   []Lister
	Replicas  Replicas  // of the topic; none: it has one, or a cluster's operators create topics
	Machines  []Machine // of a cluster; none: one node that is a cluster of one
	Operators []Operator
	Faults    []Fault
	// Tapes are what the world decided: how long things took, in which order what is free came. A
	// schedule without tapes runs steadily.
	Tapes []sim.Tape
}

// Header says where a schedule comes from. Only Scenario and Seed have an effect: the seed gives
// identifiers and garbage bytes.
type Header struct {
	Scenario  string
	Seed      uint64
	Commit    string
	Toolchain string
	Hash      string // of a run of this schedule, 32 hexadecimal digits
	Fails     string // the check that the run failed, "" for none
	Canaries  string // historical bugs that were put back, with commas
}

// World is how fast the machine and the network are, and how wrong the clock is.
type World struct {
	Link     sim.LinkProfile
	Disk     sim.DiskProfile
	Pace     sim.Pace
	Offset   sim.Time // of the wall clock at the beginning
	Drift    int64    // of both clocks, parts per million
	BootLeap sim.Time // how far the wall clock leaps at a boot, at most, either way
}

// BaseWorld is the world that the text of a schedule tells the difference from.
func BaseWorld() World {
	return World{
		Link: sim.DefaultLinkProfile(), Disk: sim.DefaultDiskProfile(), Pace: sim.DefaultPace(),
	}
}

// Topic is the topic of a run.
type Topic struct {
	Partitions int32
	Side       bool // another topic is created, written to and deleted meanwhile
}

// Replicas says how the partitions of the topic are replicated.
type Replicas struct {
	Factor int16
	MinISR int16 // min.insync.replicas of the topic, 0 for the default
	// BlackBox has the history judged without anything that only the simulator knows.
	BlackBox bool
}

// Clients is what all clients have in common.
type Clients struct {
	Pause      sim.Interval // between tries
	Impatience sim.Interval // with a request
}

// End is what happens when everything is sent.
type End struct {
	Idle      sim.Time // nobody asks for anything before the final read: sessions and producers age
	CleanStop bool
}

// Producer is one producer and what it sends, in order.
type Producer struct {
	ID int // of the client: its place is c<ID>
	client.ProducerConfig
	Sends []Send
}

// Send is one batch.
type Send struct {
	// Number names the send among those of its producer: it stays when others are removed.
	Number    int
	Partition kafka.PartitionID
	After     sim.Time // from the send before, at least
	Records   []Record
}

// Record is a record of a send. Its value says who sent it; Bytes is how long it is.
type Record struct {
	Bytes int
	Stamp int64 // milliseconds from the moment of sending
	Key   int   // which of a few keys, 0 for none: see the scenarios
}

// Consumer is one consumer.
type Consumer struct {
	ID int
	client.ConsumerConfig
}

// Lister asks for offsets by time until the end.
type Lister struct{ ID int }

// FlushMode says that acknowledged means synced: flush.messages=1.
func (s *Schedule) FlushMode() bool { return s.Node.Broker.Topic.FlushMessages == 1 }

// BaseNode is the configuration that the text of a schedule tells the difference from.
func BaseNode() node.Config {
	c := node.Config{
		Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig(),
		RequestBudgetBytes: 64 << 20, MaxFrameBytes: 4 << 20,
	}
	c.Broker.NodeID, c.Controller.NodeID = 1, 1
	// Fewer events than by the defaults, which watch brokers and controllers closely. Schedules name only
	// what differs, so these stay.
	c.Broker.HeartbeatInterval, c.Controller.SessionTimeout = 2*time.Second, 9*time.Second
	c.Controller.ReconnectGrace = 300 * time.Millisecond
	c.Controller.Quorum.ElectionTicks, c.Controller.Quorum.HeartbeatTicks = 10, 2
	c.Broker.Listeners = []broker.Listener{{Name: "PLAINTEXT", Port: 9092}}
	return c
}

// SendCount counts what all producers send.
func (s *Schedule) SendCount() (n int) {
	for i := range s.Producers {
		n += len(s.Producers[i].Sends)
	}
	return n
}

// OperationCount counts sends, operations, consumers and listers: what shrinking removes beside faults.
func (s *Schedule) OperationCount() int {
	n := s.SendCount() + len(s.Consumers) + len(s.Listers)
	for i := range s.Operators {
		n += len(s.Operators[i].Operations)
	}
	return n
}

// Clone returns a schedule that shares nothing that is ever changed with s.
func (s *Schedule) Clone() *Schedule {
	c := *s
	c.Producers = append([]Producer(nil), s.Producers...)
	for i := range c.Producers {
		c.Producers[i].Sends = append([]Send(nil), s.Producers[i].Sends...)
	}
	c.Consumers = append([]Consumer(nil), s.Consumers...)
	c.Listers = append([]Lister(nil), s.Listers...)
	c.Machines = append([]Machine(nil), s.Machines...)
	c.Operators = append([]Operator(nil), s.Operators...)
	for i := range c.Operators {
		c.Operators[i].Operations = append([]Operation(nil), s.Operators[i].Operations...)
	}
	c.Faults = append([]Fault(nil), s.Faults...)
	c.Tapes = append([]sim.Tape(nil), s.Tapes...)
	return &c
}
