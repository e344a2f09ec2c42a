package broker

import (
	"time"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"
)

// stopJob writes the last checkpoints, and then, for each directory in which every log was closed
// cleanly, the clean-start markers. A failure leaves the markers out: a disk that is full must not
// pass for one that is clean (KAFKA-13773).
type stopJob struct {
	checkpoints []*commitlog.CheckpointJob // by directory
	clean       []bool
	lives       []commitlog.Life // that the markers repeat
	brokerEpoch kafka.BrokerEpoch
}

// Name names the job for traces.
func (*stopJob) Name() string { return "stop-broker" }

// Run writes the files. The result is nil: what failed shows in what is missing at the next start.
func (j *stopJob) Run(disk env.Disk) any {
	for i, checkpoint := range j.checkpoints {
		err, _ := checkpoint.Run(disk).(error)
		if err == nil && j.clean[i] {
			_ = j.mark(disk, env.DirID(i))
		}
	}
	return nil
}

func (j *stopJob) mark(disk env.Disk, dir env.DirID) error {
	if err := makeStetDirectory(disk, dir); err != nil {
		return err
	}
	err := replaceDurably(disk, env.Path{Dir: dir, Name: commitlog.KafkaCleanName},
		commitlog.AppendKafkaClean(nil, j.brokerEpoch))
	if err != nil {
		return err
	}
	return replaceDurably(disk, env.Path{Dir: dir, Name: commitlog.CleanMarkerName},
		commitlog.AppendLife(nil, &j.lives[dir]))
}

// departureBeat is the pause between the heartbeats of a broker that waits to be let go.
const departureBeat = 100 * time.Millisecond

// departure is the time of a clean stop in which the broker still serves, while the controller moves
// leaders away from it (Kafka's controlled shutdown).
type departure struct {
	timer
	under bool
}

// beginShutdown begins a clean stop. Where no controller but the one in this process could move
// leaders away, there is nobody to move them to.
func (b *Broker) beginShutdown() {
	switch b.phase {
	case phaseNew, phaseReading:
		b.phase = phaseStopped // nothing was opened; the next start scans
	case phaseRunning:
		alone := len(b.config.Controllers) == 1 && b.config.Controllers[0].Addr == ""
		if alone || !b.register.caughtUp {
			b.closeReplicas()
		} else if !b.departure.under {
			b.departure.under = true
			b.timers.set(&b.departure.timer, b.now.Mono.Add(b.config.StopTimeout), &b.departure)
			b.register.heartbeat(b)
		}
	}
}

// due stops all the same: what this broker leads gets another leader when its session is over.
func (*departure) due(b *Broker) { b.closeReplicas() }

// closeReplicas stops taking work and closes every log.
func (b *Broker) closeReplicas() {
	if b.phase != phaseRunning {
		return
	}
	b.phase = phaseStopping
	b.timers.clear(&b.departure.timer)
	b.fetchers.close(b)
	for _, r := range b.host.all {
		r.Close(b.out)
		b.afterReplica(r)
	}
}

// pumpShutdown goes on with a shutdown when nothing is under way any more.
func (b *Broker) pumpShutdown() {
	if b.phase != phaseStopping || b.saving.under > 0 || !b.settled() {
		return
	}
	b.phase = phaseMarking
	job := &stopJob{brokerEpoch: -1}
	if b.register.known {
		job.brokerEpoch = b.register.epoch
	}
	for dir := range b.directories {
		d := &b.directories[dir]
		clean := d.meta.ClusterID != ""
		for _, r := range b.host.inDirectory(env.DirID(dir)) {
			clean = clean && r.Clean()
		}
		job.checkpoints = append(job.checkpoints, b.checkpointJob(env.DirID(dir)))
		job.clean = append(job.clean, clean)
		job.lives = append(job.lives, d.life)
	}
	b.startJob(job, stopping{})
}

// settled says whether no replica and no directory has anything under way.
func (b *Broker) settled() bool {
	for i := range b.directories {
		if d := &b.directories[i]; d.formatting || d.noting > 0 {
			return false
		}
	}
	for _, r := range b.host.all {
		if !r.Settled() && r.State() != partition.Gone {
			return false
		}
	}
	return true
}

// stopping takes the result of a stopJob.
type stopping struct{}

func (stopping) completed(b *Broker, _ *env.Event) { b.phase = phaseStopped }
