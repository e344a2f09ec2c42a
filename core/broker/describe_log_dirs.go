package broker

import (
	"slices"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeLogDirs (key 35), versions 1 to 5: the data directories of this broker and the replicas in
// them, all, or those of some partitions. How large a disk is, which v4 brings, is not known here (-1).

func (b *Broker) describeLogDirs(r *env.Request, o origin, m *kmsg.DescribeLogDirsRequest) {
	answer := kmsg.NewPtrDescribeLogDirsResponse()
	if code := b.Authorize(r.Info, opDescribe, resourceCluster, ""); code != kafka.None {
		answer.ErrorCode = int16(code) // v3
		b.reply(o, answer)
		return
	}
	for i := range b.directories {
		dir := kmsg.NewDescribeLogDirsResponseDir()
		dir.Dir = b.config.Directories[i]
		dir.TotalBytes, dir.UsableBytes = -1, -1
		for _, h := range b.host.inDirectory(env.DirID(i)) {
			if h.State() != partition.Gone && b.host.find(h.TopicID, h.Partition) == h && asksFor(m, h.Name()) {
				addReplica(&dir, h)
			}
		}
		answer.Dirs = append(answer.Dirs, dir)
	}
	b.reply(o, answer)
}

// asksFor says whether a request is about a partition. Without topics it is about all.
func asksFor(m *kmsg.DescribeLogDirsRequest, p kafka.TopicPartition) bool {
	return m.Topics == nil || slices.ContainsFunc(m.Topics, func(t kmsg.DescribeLogDirsRequestTopic) bool {
		return t.Topic == p.Topic && slices.Contains(t.Partitions, int32(p.Partition))
	})
}

func addReplica(dir *kmsg.DescribeLogDirsResponseDir, h *hosted) {
	i := slices.IndexFunc(dir.Topics, func(t kmsg.DescribeLogDirsResponseDirTopic) bool {
		return t.Topic == h.Topic
	})
	if i < 0 {
		i = len(dir.Topics)
		topic := kmsg.NewDescribeLogDirsResponseDirTopic()
		topic.Topic = h.Topic
		dir.Topics = append(dir.Topics, topic)
	}
	p := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
	p.Partition = int32(h.Partition)
	if log := h.Log(); log != nil {
		p.Size = log.SizeBytes()
	}
	p.OffsetLag = int64(max(0, h.HighWatermark()-h.LogEndOffset()))
	dir.Topics[i].Partitions = append(dir.Topics[i].Partitions, p)
}
