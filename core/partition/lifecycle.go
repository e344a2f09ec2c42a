package partition

import (
	"errors"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// Create starts the job that makes the replica's directory.
func (r *Replica) Create(out *env.Effects) {
	invariant.Always(r.state == Absent, "a replica is created once")
	r.startJob(Creating, &commitlog.CreateJob{Path: r.Path(), TopicID: r.TopicID}, out)
}

// Recover starts the job that reads and repairs the replica's directory.
func (r *Replica) Recover(now env.Now, out *env.Effects) {
	invariant.Always(r.state == Waiting, "a replica recovers when it waits for it")
	r.startJob(Recovering, r.recovery(now), out)
}

// Close starts a clean close. A replica that is not online has nothing to make durable: it stays
// as it is, and Settled says so once its jobs are done.
func (r *Replica) Close(out *env.Effects) {
	switch r.state {
	case Online:
		r.Resign()
		r.state = Closing
		r.log.Close(out)
		r.finishClosing(out)
	case Absent, Waiting:
		r.Resign()
	}
}

// Clean says whether the directory is in order: a start after this needs no scan.
func (r *Replica) Clean() bool {
	return r.state == Closed || r.state == Gone || r.state == Absent ||
		r.state == Waiting && r.clean
}

// Settled says whether nothing of the replica is under way that a clean stop should wait for.
func (r *Replica) Settled() bool {
	switch r.state {
	case Absent, Waiting, Damaged, Closed, Gone:
		return true
	case Fenced, Truncating:
		return r.job == 0 && r.log.Quiescent() && len(r.lookups) == 0
	}
	return false
}

// Delete ends the replica and removes its directory; deletion is a fresh random value. The State
// becomes Gone.
func (r *Replica) Delete(deletion [16]byte, out *env.Effects) {
	if r.state == Draining || r.state == Deleting || r.state == Gone {
		return
	}
	r.Resign()
	r.deletion, r.err = deletion, nil
	if r.state == Absent && r.job == 0 && !r.partial {
		r.state = Gone // there never was a directory, or recovery found none
		return
	}
	if r.log != nil {
		r.log.Stop()
	}
	r.state = Draining
	r.finishDraining(out)
}

// Retry tries a removal again that has failed.
func (r *Replica) Retry(out *env.Effects) {
	if r.state == Draining {
		r.err = nil
		r.finishDraining(out)
	}
}

func (r *Replica) startJob(state State, job env.Job, out *env.Effects) {
	invariant.Always(r.job == 0, "a replica has one job of its own at a time")
	r.state, r.job = state, r.handles.NextToken()
	out.Jobs = append(out.Jobs, env.JobStart{Token: r.job, Job: job})
}

// OnJobDone takes the completion of a job of this replica.
func (r *Replica) OnJobDone(ev *env.Event, out *env.Effects) {
	switch {
	case ev.Token == r.job:
		r.job = 0
		r.finishJob(ev.Res, out)
	case r.finishLookup(ev):
		r.settle(out)
	case r.log != nil && r.log.OnJobDone(ev, out):
		r.finishLocate(ev.Token)
		r.settle(out)
	}
}

func (r *Replica) finishJob(res any, out *env.Effects) {
	switch r.state {
	case Creating:
		r.err, _ = res.(error)
		r.state, r.partial = Absent, r.err != nil
		if r.err == nil {
			// A directory that is new holds nothing to scan for, whatever the marker says.
			r.state, r.start = Waiting, Checkpointed{}
		}
	case Recovering:
		r.finishRecovery(res.(*commitlog.Recovered), out)
	case Fenced:
		r.finishFenced(out) // whether the mark was left or not
	case Draining:
		r.finishDraining(out)
	case Deleting:
		r.err, _ = res.(error)
		r.state = Gone
		if r.err != nil {
			r.state = Draining // Retry
		}
	default:
		invariant.Unreachable("a job ended in state " + r.state.String())
	}
}

// finishRecovery opens what was found. A failure of the disk leaves the replica waiting, for the
// owner to try again; corruption below the recovery point makes it step aside.
func (r *Replica) finishRecovery(found *commitlog.Recovered, out *env.Effects) {
	r.err = found.Err
	switch {
	case found.Missing:
		r.state, r.err, r.truncation = Absent, nil, nil
		return
	case found.Corrupt, found.WrongTopic:
		r.state = Damaged
		r.changed = true
		if r.err == nil {
			r.err = errors.New("log is corrupt below its recovery point")
		}
		return
	case found.Err != nil:
		r.state, r.suspect = Waiting, true
		return
	}
	r.Counters.Recoveries++
	r.Counters.RecoveredBytes += found.Scanned
	r.Counters.CutBytes += found.Cut
	invariant.Sometimes(r.clean, invariant.MarkCleanStart)
	r.clean, r.cleanStart = false, r.clean
	r.state = Opening
	end := found.End
	r.suspect = false
	r.log = commitlog.Open(r.handles, r.directory, r.logConfig, found, out)
	r.highWatermark = min(r.highWatermark, end)
	if !invariant.CanaryResetKeepsHighWatermark.On() {
		r.highWatermark = max(r.highWatermark, r.log.LogStartOffset())
	}
	r.truncation = nil
	r.finishOpening(out)
}

func (r *Replica) finishOpening(out *env.Effects) {
	if r.log.Fenced() {
		r.fence(out)
		r.finishFenced(out)
		return
	}
	if !r.log.Ready() {
		return
	}
	r.state, r.changed = Online, true
	invariant.Sometimes(r.Counters.Fences > 0, invariant.MarkLogReopened)
	r.resume(out)
}

// fence ends service after a failed effect. Batches above the written end have failed and are
// answered as Kafka answers an I/O error; nothing is acknowledged from here on (fsyncgate).
func (r *Replica) fence(out *env.Effects) {
	r.resign(kafka.KafkaStorageError)
	r.putToRest()
	r.rest.shows(r)
	r.startJob(Fenced, &commitlog.SuspectJob{Path: r.Path()}, out)
	r.changed, r.suspect = true, true
	r.Counters.Fences++
	invariant.Sometimes(true, invariant.MarkLogFenced)
}

// finishFenced lets go of a log that is fenced or to be truncated once nothing is under way any more: effects, look-ups, and
// responses that still read its files, which recovery may cut. Damage below the recovery point is
// nothing that recovery could mend: the replica steps aside.
func (r *Replica) finishFenced(out *env.Effects) {
	if r.job != 0 || !r.log.Quiescent() || len(r.lookups) > 0 || r.handles.Leased() > 0 {
		return
	}
	r.start = Checkpointed{r.log.RecoveryPoint(), r.log.LogStartOffset(), r.highWatermark}
	r.state = Waiting
	if d := r.log.Damage(); d != nil && d.Offset < r.log.RecoveryPoint() {
		r.state, r.changed, r.err = Damaged, true, d.Err
	}
	r.abandon(out)
}

func (r *Replica) abandon(out *env.Effects) {
	r.log.Abandon(out)
	r.log = nil
	r.locating = r.locating[:0]
}

func (r *Replica) finishClosing(out *env.Effects) {
	switch {
	case r.log.Fenced():
		r.fence(out)
		r.finishFenced(out)
	case r.log.Closed() && len(r.lookups) == 0:
		r.start = Checkpointed{r.log.RecoveryPoint(), r.log.LogStartOffset(), r.highWatermark}
		r.log, r.state, r.clean = nil, Closed, true
	}
}

// finishDraining starts the removal once nothing is under way. Responses may go on reading files
// whose names are gone.
func (r *Replica) finishDraining(out *env.Effects) {
	if r.job != 0 || len(r.lookups) > 0 {
		return
	}
	if r.log != nil {
		if !r.log.Quiescent() {
			return
		}
		r.abandon(out)
	}
	r.startJob(Deleting, &commitlog.DeleteJob{Path: r.Path(), UUID: r.deletion}, out)
}

// OnLeasesReturned is called after Handles().Release, for a log that is let go of and waits for it.
func (r *Replica) OnLeasesReturned(out *env.Effects) {
	if r.state == Fenced || r.state == Truncating {
		r.settle(out)
	}
}
