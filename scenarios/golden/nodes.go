package golden

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stet/core/kafka"
	"stet/core/partition"
	"stet/node"
	"stet/sim"
)

// nodes adds machines that run nothing yet.
func nodes(s *stage, a *args) {
	count := a.number(a.next("a number"))
	settings := a.settings()
	for range count {
		s.addMachine(settings)
	}
}

// settings takes all options that are left as settings of nodes.
func (a *args) settings() func(*node.Config) {
	settings := a.options
	a.options = nil
	return func(c *node.Config) {
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			set(a, c, name, settings[name])
		}
	}
}

// set changes one setting of a node.
func set(a *args, c *node.Config, name, value string) {
	b := &c.Broker
	switch name {
	case "checkpoint.interval":
		b.CheckpointInterval = a.asDuration(value).Duration()
	case "heartbeat.interval":
		b.HeartbeatInterval = a.asDuration(value).Duration()
	case "fetch.sessions":
		b.FetchSessionSlots = int(a.number(value))
	case "index.write.entries":
		b.IndexWriteEntries = int(a.number(value))
	case "segment.bytes": // smaller than a client may ask for
		b.Topic.SegmentBytes = int32(a.number(value))
	case "index.interval.bytes":
		b.Topic.IndexIntervalBytes = int32(a.number(value))
	default:
		if err := b.Topic.Set(name, value); err != nil {
			a.fails("%w", err)
		}
	}
}

// start starts processes, each when the one before is ready or has given up.
func start(s *stage, a *args) {
	for {
		m := s.machine(a)
		if !a.ok() {
			return
		}
		if m.Running() {
			a.fails("%s runs already", m.Place)
			return
		}
		m.Start()
		s.until(a, func() bool { return m.Ready() || !m.Running() })
		if len(a.words) == 0 {
			return
		}
	}
}

// stop stops a process cleanly.
func stop(s *stage, a *args) {
	if m := s.machine(a); a.ok() {
		m.Stop()
		s.until(a, func() bool { return !m.Running() })
	}
}

// kill kills a process. Whoever talked to it is told within the second.
func kill(s *stage, a *args) {
	if m := s.machine(a); a.ok() {
		m.Kill()
		s.world.Run(0, nil)
	}
}

// power cuts the power of a machine.
func power(s *stage, a *args) {
	m := s.machine(a)
	var fates sim.PowerFates
	switch keep := a.option("keep", "nothing"); keep {
	case "nothing":
		fates = sim.KeepNothing{}
	case "all":
		fates = sim.KeepAll{}
	default:
		fates = keepBefore{bytes: a.number(keep)}
	}
	if a.ok() {
		m.LosePower(fates)
		s.world.Run(0, nil)
	}
}

// keepBefore is the power loss that tears: a file keeps its size and the sectors that begin before
// an offset, and reads zeros, or what it held before, behind them. Names are lost.
type keepBefore struct {
	sim.KeepNothing
	bytes int64
}

// Size implements sim.PowerFates.
func (k keepBefore) Size(f sim.UnsyncedFile) int64 { return f.CachedSize }

// Page implements sim.PowerFates.
func (k keepBefore) Page(_ sim.UnsyncedFile, index int) (fate sim.PageFate) {
	for i := range fate {
		if int64(index)*sim.PageSize+int64(i)*sim.SectorSize < k.bytes {
			fate[i] = sim.SectorNew
		}
	}
	return fate
}

// pause stops a process for a while without its noticing.
func pause(s *stage, a *args) {
	if m, d := s.machine(a), a.duration(); a.ok() {
		m.Pause(d)
	}
}

// clock steps a wall clock.
func clock(s *stage, a *args) {
	if m, d := s.machine(a), a.duration(); a.ok() {
		m.Clock.Step(d)
		s.say(m.Place.String(), "its wall clock stands at %s", sinceBeginning(m.Clock.Now().WallMs))
	}
}

// hosting is what scripts see of the broker inside a node.
type hosting interface {
	Replica(tp kafka.TopicPartition) *partition.Replica
}

// status tells of a process and its replicas.
func status(s *stage, a *args) {
	m := s.machine(a)
	if !a.ok() {
		return
	}
	who := m.Place.String()
	if !m.Running() {
		s.say(who, "no process")
		return
	}
	s.say(who, "life %d, ready %v", m.Lives(), m.Ready())
	for _, t := range s.topics {
		for i := range t.partitions {
			tp := kafka.TopicPartition{Topic: t.name, Partition: kafka.PartitionID(i)}
			if r := m.Node().Loop(node.BrokerLoop).Core().(hosting).Replica(tp); r != nil {
				s.replica(tp, r)
			}
		}
	}
}

func (s *stage) replica(tp kafka.TopicPartition, r *partition.Replica) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s", tp, r.State())
	if err := r.Err(); err != nil {
		fmt.Fprintf(&text, " (%v)", err)
	}
	if log := r.Log(); log != nil {
		fmt.Fprintf(&text, ": epoch %d, start %d, high watermark %d, written %d, synced %d, "+
			"recovery point %d", r.LeaderEpoch(), r.LogStartOffset(), r.HighWatermark(), log.Written(),
			log.Synced(), log.RecoveryPoint())
	}
	s.show("%s", &text)
}
