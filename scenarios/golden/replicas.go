package golden

import (
	"fmt"
	"slices"
	"strings"

	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/partition"
	"stet/core/quorum"
	"stet/core/record"
	"stet/node"
	"stet/sim"
)

// replicas draws a partition: what the active controller says of it, and every replica with its
// records, each as EPOCH:VALUE, and a bar behind those that it knows to be committed.
func replicas(s *stage, a *args) {
	tp := a.partition(a.next("a partition"))
	image := s.image()
	if image == nil {
		a.fails("no controller leads")
	}
	if !a.ok() {
		return
	}
	t := image.Topic(tp.Topic)
	if t == nil || t.Partition(tp.Partition) == nil {
		s.say(tp.String(), "there is none")
		return
	}
	p := t.Partition(tp.Partition)
	s.say(tp.String(), "%s", describeStanding(p))
	for _, id := range p.Replicas {
		m := s.world.Machines[id-1]
		s.show("%s %s", m.Place, s.describeReplica(m, tp))
	}
}

// image is what the active controller has committed, nil without one.
func (s *stage) image() *metadata.Image {
	for _, m := range s.world.Machines {
		if c := controllerOf(m); c != nil && c.Voter() != nil && c.Voter().Role() == quorum.Leader {
			return c.Image()
		}
	}
	return nil
}

func describeStanding(p *metadata.Partition) string {
	text := fmt.Sprintf("epoch %d, %s leads, ISR %s", p.LeaderEpoch, nodeName(p.Leader), brokerNames(p.ISR))
	if len(p.ELR) > 0 {
		text += ", ELR " + brokerNames(p.ELR)
	}
	if p.Recovering {
		text += ", elected uncleanly"
	}
	return text
}

// nodeName is the name of the node with an id.
func nodeName(id kafka.BrokerID) string {
	if id == kafka.NoBroker {
		return "nobody"
	}
	return sim.Place(id).String()
}

func brokerNames(ids []kafka.BrokerID) string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		names = append(names, nodeName(id))
	}
	return "[" + strings.Join(names, " ") + "]"
}

// describeReplica tells what a node takes itself for, and what it has.
func (s *stage) describeReplica(m *sim.Machine, tp kafka.TopicPartition) string {
	log := storedRecords(m.Disk, tp)
	if m.Node() == nil {
		return "is down: " + drawLog(log, -1)
	}
	r := m.Node().Loop(node.BrokerLoop).Core().(hosting).Replica(tp)
	if r == nil {
		return "does not know of it: " + drawLog(log, -1)
	}
	return describeRole(r) + ": " + drawLog(log, r.HighWatermark())
}

func describeRole(r *partition.Replica) string {
	if in, leads := r.InSync(); leads {
		text := fmt.Sprintf("leads in epoch %d", r.LeaderEpoch())
		if len(in.Maximal) > len(in.ISR) {
			text += fmt.Sprintf(" (to it the ISR is %s, or %s by now)", brokerNames(in.ISR), brokerNames(in.Maximal))
		}
		return text
	}
	if f, follows := r.Following(); follows {
		return fmt.Sprintf("follows %s in epoch %d", nodeName(f.Leader), f.Epoch)
	}
	return "is " + r.State().String()
}

// storedRecord is a record as the file has it.
type storedRecord struct {
	offset kafka.Offset
	text   string // EPOCH:VALUE
}

// storedRecords reads the sound batches of a partition's files, as processes see them.
func storedRecords(d *sim.Disk, tp kafka.TopicPartition) (all []storedRecord) {
	for _, path := range segmentFiles(d, tp, ".log") {
		content, _ := d.Bytes(path)
		for len(content) > 0 {
			v, _, problem := record.First(content)
			if problem != record.NoProblem || record.Check(v) != record.NoProblem {
				return all
			}
			for i, value := range values(v) {
				all = append(all, storedRecord{
					v.BaseOffset() + kafka.Offset(i), fmt.Sprintf("%d:%s", v.LeaderEpoch(), value),
				})
			}
			content = content[len(v):]
		}
	}
	return all
}

// drawLog draws records with a bar at the high watermark, or without one if that is negative.
func drawLog(log []storedRecord, highWatermark kafka.Offset) string {
	words := make([]string, 0, len(log)+1)
	for _, r := range log {
		words = append(words, r.text)
	}
	if highWatermark >= 0 {
		i := slices.IndexFunc(log, func(r storedRecord) bool { return r.offset >= highWatermark })
		if i < 0 {
			i = len(log)
		}
		words = slices.Insert(words, i, "|")
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " ")
}
