package broker

import (
	"cmp"
	"slices"
	"time"

	"stet/core/commitlog"
	"stet/core/env"
)

// checkpoints writes the offset checkpoints of every data directory now and then, so that a
// recovery need not scan from the start of the logs.
type checkpoints struct {
	timer
	under int // jobs under way
}

func (c *checkpoints) begin(b *Broker) {
	b.timers.set(&c.timer, b.now.Mono.Add(b.config.CheckpointInterval), c)
}

// due starts a job for each directory, unless the last ones are still under way.
func (c *checkpoints) due(b *Broker) {
	if b.phase != phaseRunning {
		return
	}
	c.begin(b)
	if c.under > 0 {
		return
	}
	for dir := range b.directories {
		c.under++
		b.startJob(b.checkpointJob(env.DirID(dir)), c)
	}
}

func (c *checkpoints) completed(b *Broker, ev *env.Event) {
	c.under--
	b.Metrics.Checkpoints++
	if err, _ := ev.Res.(error); err != nil {
		b.Metrics.CheckpointsFailed++ // what was written before stands
	}
}

// checkpointJob collects the checkpoints of one directory.
func (b *Broker) checkpointJob(dir env.DirID) *commitlog.CheckpointJob {
	job := &commitlog.CheckpointJob{
		Dir: dir, RecoveryPoints: []commitlog.CheckpointEntry{},
		LogStarts: []commitlog.CheckpointEntry{}, HighWatermarks: []commitlog.CheckpointEntry{},
	}
	for _, r := range b.host.inDirectory(dir) {
		c, ok := r.Checkpoint()
		if !ok {
			continue
		}
		name := r.Name()
		job.RecoveryPoints = append(job.RecoveryPoints,
			commitlog.CheckpointEntry{Partition: name, Offset: c.RecoveryPoint})
		job.LogStarts = append(job.LogStarts,
			commitlog.CheckpointEntry{Partition: name, Offset: c.LogStart})
		job.HighWatermarks = append(job.HighWatermarks,
			commitlog.CheckpointEntry{Partition: name, Offset: c.HighWatermark})
	}
	return job
}

// inDirectory returns the replicas that own a directory name in dir, by topic and partition.
func (h *host) inDirectory(dir env.DirID) []*hosted {
	var replicas []*hosted
	for _, r := range h.all {
		if r.Handles().Dir() == dir && h.begins(r) {
			replicas = append(replicas, r)
		}
	}
	slices.SortFunc(replicas, func(a, b *hosted) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return replicas
}

// expiryInterval is Kafka's producer.id.expiration.check.interval.ms.
const expiryInterval = 10 * time.Minute

// producerExpiry forgets idle producers now and then.
type producerExpiry struct{}

func (b *Broker) beginExpiry() {
	b.expiry.Advance(b.now)
	b.timers.set(&b.expiring, b.now.Mono.Add(expiryInterval), producerExpiry{})
}

func (producerExpiry) due(b *Broker) {
	now := b.expiry.Advance(b.now)
	for _, r := range b.host.all {
		r.ExpireProducers(now)
	}
	b.beginExpiry()
}
