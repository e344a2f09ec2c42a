package invariants

import (
	"slices"
	"strconv"

	"stet/core/kafka"
	"stet/core/metadata"
)

// checkAssignment is R7, for every partition that an entry has changed: ISR and ELR are replicas and
// have nothing in common; the ISR has active brokers alone; the leader is in it, and there is none
// only if it is empty; with enough in the ISR there is no ELR.
func (c *Cluster) checkAssignment(before, after *metadata.Image) {
	for t := range after.Topics() {
		old := before.TopicByID(t.ID)
		for i := range t.PartitionCount() {
			id := kafka.PartitionID(i)
			p := t.Partition(id)
			if old != nil && old.Partition(id) == p && sameBrokers(before, after, p) {
				continue
			}
			c.findings.Checked("R7")
			if what := judgeAssignment(after, t, p); what != "" {
				c.findings.Fails("R7", "entry %d: %s-%d: %s: replicas %v, ISR %v, ELR %v, leader %d", after.Index(),
					t.Name, i, what, p.Replicas, p.ISR, p.ELR, p.Leader)
			}
		}
	}
}

// sameBrokers says whether the brokers of a partition are what they were.
func sameBrokers(before, after *metadata.Image, p *metadata.Partition) bool {
	for _, id := range p.Replicas {
		if before.Broker(id) != after.Broker(id) {
			return false
		}
	}
	return true
}

func judgeAssignment(m *metadata.Image, t *metadata.Topic, p *metadata.Partition) string {
	for _, list := range [][]kafka.BrokerID{p.ISR, p.ELR} {
		for _, id := range list {
			if !p.HasReplica(id) {
				return "not a replica"
			}
		}
	}
	for _, id := range p.ELR {
		if slices.Contains(p.ISR, id) {
			return "in ISR and ELR"
		}
	}
	for _, id := range p.ISR {
		if b := m.Broker(id); b == nil || !b.Active() {
			return "a broker in the ISR may not lead"
		}
	}
	switch {
	case p.Leader == kafka.NoBroker && len(p.ISR) > 0:
		return "no leader, and an ISR"
	case p.Leader != kafka.NoBroker && !slices.Contains(p.ISR, p.Leader):
		return "the leader is not in the ISR"
	}
	if len(p.ISR) >= minISR(m, t, p) && len(p.ELR) > 0 {
		return "enough in the ISR, and an ELR"
	}
	return ""
}

// minISR is the effective minimum: what the topic sets, or all topics have, or 2 of 3 replicas and more
// and else 1, and never more than the replication factor.
func minISR(m *metadata.Image, t *metadata.Topic, p *metadata.Partition) int {
	n := 1
	if p.ReplicationFactor() >= 3 {
		n = 2
	}
	for _, e := range slices.Concat(m.ResourceConfigs(metadata.BrokerDefaults()), t.Configs()) {
		if set, err := strconv.Atoi(e.Value); e.Name == "min.insync.replicas" && err == nil {
			n = set
		}
	}
	return min(n, p.ReplicationFactor())
}
