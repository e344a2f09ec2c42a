package commitlog

import "stet/core/env"

// SuspectJob leaves the mark that recovery leaves (see rewriteSuspects) before it begins, as soon as
// a write or a sync has failed: a process that is killed while its recovery waits would take with it
// what only it knows. The result is an error or nil; without the mark the recovery that follows in
// this process makes it again.
type SuspectJob struct {
	Path env.Path // directory of the replica
}

// Name names the job for traces.
func (*SuspectJob) Name() string { return "mark-suspect" }

// Run leaves the mark. It need not outlive the machine: what the page cache had is gone then, too.
func (j *SuspectJob) Run(disk env.Disk) any {
	if err := leaveMark(disk, j.Path); err != nil {
		return err
	}
	return nil
}

func leaveMark(disk env.Disk, dir env.Path) error {
	name := child(dir, recoveryMarkName)
	f, errno := disk.Open(name, env.OpenOrNew)
	if errno == env.OK {
		errno = f.Close()
	}
	return failed("create", name, errno)
}
