package metadata

import "stet/core/kafka"

// Imbalance lists the partitions of which brokers are the first replica, in sync, and do not lead: of each
// broker that leads so few of its own that more than percent of 100 are led by others. Those with a
// reassignment under way are left out; it ends with an election where one is needed.
func (m *Image) Imbalance(percent int32) (list []TopicPartitions) {
	own, astray := map[kafka.BrokerID]int64{}, map[kafka.BrokerID]int64{}
	for t := range m.Topics() {
		for i := range t.partitions.count {
			p := t.partitions.get(i)
			own[p.Replicas[0]]++
			if p.Leader != p.Replicas[0] {
				astray[p.Replicas[0]]++
			}
		}
	}
	for t := range m.Topics() {
		var ids []kafka.PartitionID
		for i := range t.partitions.count {
			p := t.partitions.get(i)
			first := p.Replicas[0]
			if p.Misled() && 100*astray[first] > int64(percent)*own[first] {
				ids = append(ids, kafka.PartitionID(i))
			}
		}
		if len(ids) > 0 {
			list = append(list, TopicPartitions{t.Name, ids})
		}
	}
	return list
}

// Misled says whether another than the first replica leads although that might.
func (p *Partition) Misled() bool { return p.Reassignment == nil && p.preferredIsReady() }
