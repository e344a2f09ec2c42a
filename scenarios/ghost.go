package scenarios

import (
	"stet/core/kafka"
	"stet/core/partition"
	"stet/linearizability"
	"stet/sim"
)

// ghost knows the true high watermark of every partition at every step.
type ghost struct {
	scheduler *sim.Scheduler
	marks     map[kafka.PartitionID][]mark
}

// mark says that a high watermark has held since a step.
type mark struct {
	step linearizability.Step
	high kafka.Offset
}

func newGhost(s *sim.Scheduler) *ghost {
	return &ghost{scheduler: s, marks: map[kafka.PartitionID][]mark{}}
}

// see notes the high watermark that a partition has now.
func (g *ghost) see(p kafka.PartitionID, high kafka.Offset) {
	marks := g.marks[p]
	if n := len(marks); n > 0 && marks[n-1].high == high {
		return
	}
	g.marks[p] = append(marks, mark{linearizability.Step(g.scheduler.EventCount()), high})
}

// at returns the highest watermark that was true between a step and now. Before a loss it may have
// been higher than it is now, and an answer may be from before.
func (g *ghost) at(p kafka.PartitionID, since linearizability.Step) *linearizability.Ghost {
	marks := g.marks[p]
	high := kafka.Offset(0)
	for i := len(marks) - 1; i >= 0; i-- {
		high = max(high, marks[i].high)
		if marks[i].step < since {
			break
		}
	}
	return &linearizability.Ghost{
		LogStart: kafka.NoOffset, LastStableOffset: high,
		HighWatermark: high,
	}
}

// replicas returns the replicas of the topic that a running machine has, by partition; nil where it
// has none.
func replicas(m *sim.Machine, partitions int32) []*partition.Replica {
	out := make([]*partition.Replica, partitions)
	b := brokerOf(m)
	if b == nil {
		return out
	}
	for i := range out {
		out[i] = b.Replica(topicPartition(kafka.PartitionID(i)))
	}
	return out
}

func topicPartition(p kafka.PartitionID) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: topicName, Partition: p}
}
