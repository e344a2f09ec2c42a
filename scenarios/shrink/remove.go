package shrink

import (
	"fmt"
	"slices"
	"strings"

	"stet/core/kafka"
	"stet/scenarios/schedule"
	"stet/sim"
)

// removals lists edits that each remove one element of a list.
func removals[T any](n int, list func(*schedule.Schedule) *[]T) (edits []edit) {
	for i := range n {
		edits = append(edits, func(s *schedule.Schedule) {
			l := list(s)
			*l = slices.Delete(*l, i, i+1)
		})
	}
	return edits
}

func dropFaults(s *schedule.Schedule) []edit {
	return removals(len(s.Faults), func(s *schedule.Schedule) *[]schedule.Fault { return &s.Faults })
}

// dropClients leaves out whole clients, and the other topic.
func dropClients(s *schedule.Schedule) []edit {
	edits := slices.Concat(
		removals(len(s.Producers), func(s *schedule.Schedule) *[]schedule.Producer { return &s.Producers }),
		removals(len(s.Consumers), func(s *schedule.Schedule) *[]schedule.Consumer { return &s.Consumers }),
		removals(len(s.Listers), func(s *schedule.Schedule) *[]schedule.Lister { return &s.Listers }),
	)
	if s.Topic.Side {
		edits = append(edits, func(s *schedule.Schedule) { s.Topic.Side = false })
	}
	return edits
}

func dropSends(s *schedule.Schedule) (edits []edit) {
	for i := range s.Producers {
		edits = append(edits, removals(len(s.Producers[i].Sends),
			func(s *schedule.Schedule) *[]schedule.Send { return &s.Producers[i].Sends })...)
	}
	return edits
}

// waitInstead lists edits that leave a send out and have the next one come as much later as it may
// have taken: some sends matter only because they pass the time.
func waitInstead(s *schedule.Schedule) (edits []edit) {
	for i := range s.Producers {
		for j := range len(s.Producers[i].Sends) - 1 {
			edits = append(edits, func(s *schedule.Schedule) {
				list := &s.Producers[i].Sends
				(*list)[j+1].After += (*list)[j].After + sim.Millisecond
				*list = slices.Delete(*list, j, j+1)
			})
		}
	}
	return edits
}

// fewerPartitions lists edits that leave one partition, with what is sent to it or with all that is
// sent, or leave the last partition out.
func fewerPartitions(s *schedule.Schedule) (edits []edit) {
	n := s.Topic.Partitions
	for p := range n {
		if n > 1 {
			edits = append(edits, onlyPartition(p, false), onlyPartition(p, true))
		}
	}
	if n > 2 {
		edits = append(edits, func(s *schedule.Schedule) { partitions(s, n-1, false, nil) })
	}
	return edits
}

// onlyPartition makes a partition the only one, under the number 0.
func onlyPartition(p int32, all bool) edit {
	return func(s *schedule.Schedule) {
		partitions(s, 1, all, func(q kafka.PartitionID) kafka.PartitionID {
			switch q {
			case kafka.PartitionID(p):
				return 0
			case 0:
				return kafka.PartitionID(p)
			}
			return q
		})
		renamePaths(s, p)
	}
}

// partitions leaves n partitions, once their numbers are moved. What is sent to others is left out,
// or goes to partition 0.
func partitions(s *schedule.Schedule, n int32, all bool, moved func(kafka.PartitionID) kafka.PartitionID) {
	s.Topic.Partitions = n
	for i := range s.Producers {
		p := &s.Producers[i]
		p.Partitions = n
		sends := p.Sends[:0]
		for _, send := range p.Sends {
			if moved != nil {
				send.Partition = moved(send.Partition)
			}
			if all && send.Partition >= kafka.PartitionID(n) {
				send.Partition = 0
			}
			if send.Partition < kafka.PartitionID(n) {
				sends = append(sends, send)
			}
		}
		p.Sends = sends
	}
	for i := range s.Consumers {
		s.Consumers[i].Partitions = n
	}
}

// renamePaths has the faults of partition p hit partition 0.
func renamePaths(s *schedule.Schedule, p int32) {
	rename := func(path string) string {
		for _, topic := range []string{"orders-", "side-"} {
			_, rest, ok := strings.Cut(path, fmt.Sprintf("%s%d/", topic, p))
			if ok && strings.HasPrefix(path, topic) {
				return topic + "0/" + rest
			}
		}
		return path
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		if f.At.Call != nil {
			call := *f.At.Call
			call.Path = rename(call.Path)
			f.At.Call = &call
		}
		r := &f.Do.Remains
		r.Files = slices.Clone(r.Files)
		for j := range r.Files {
			r.Files[j].Name = rename(r.Files[j].Name)
		}
	}
}
