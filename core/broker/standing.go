package broker

import (
	"fmt"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/metadata"
)

// What makes a start clean (design P1). A process that stopped cleanly leaves a marker, which also
// saves the scan of the logs. One that was killed damages nothing either: its writes are in the page
// cache, so a start under the same boot id, in the same directory, continues it if no write or sync
// had failed and all that may not have reached the medium syncs well now. That sync is made before
// anything else, so that a registration need not wait for it: recovery would make it anyway.
//
// A life that continues others names them in its file. The broker claims to be clean by naming, as
// its previous epoch, the registration that the metadata have of it, if that was of its own chain of
// lives in all of the directories that were registered. So a directory that was replaced, or rolled
// back to before that registration, is found out, and a process that is killed between its
// registration and any note of it loses nothing.

// takeStanding finds out what this life continues, says durably that it has begun, and takes the
// clean-start markers away, durably, so that they can not outlive the first write (checks.md S5). In
// this order: a process that is killed between the two is continued like any other.
func (found *foundDirectory) takeStanding(disk env.Disk, dir env.DirID, id env.Identity) error {
	life := commitlog.Life{
		BootID: id.BootID, Incarnation: id.Incarnation, DirectoryID: found.meta.DirectoryID,
	}
	former, damaged := found.readStanding(disk, dir)
	survived := former != nil && !damaged && former.DirectoryID == life.DirectoryID
	if survived && !found.clean {
		survived = former.BootID == life.BootID && life.BootID != "" && found.syncSurvived(disk, dir)
	}
	if survived {
		life = life.After(former)
	}
	if noteLife(disk, dir, &life) != nil {
		// A disk that is full still serves what it has. But a disk that takes no note of this life
		// may have taken none of a failure in the last one, either.
		life.Before = nil
	} else if damaged {
		disk.Remove(env.Path{Dir: dir, Name: commitlog.DamageName}) // the chain has ended, which says it
	}
	found.life = life
	return removeMarkers(disk, dir)
}

// readStanding reads what the last life left: its file, nil if it can not be read, whether its marker
// holds, and whether a write or a sync of a log had failed.
func (found *foundDirectory) readStanding(disk env.Disk, dir env.DirID) (
	former *commitlog.Life, damaged bool,
) {
	file, _ := commitlog.ReadFile(disk, env.Path{Dir: dir, Name: commitlog.LifeName})
	former, _ = commitlog.DecodeLife(file)
	marker, errno := commitlog.ReadFile(disk, env.Path{Dir: dir, Name: commitlog.CleanMarkerName})
	found.clean = errno == env.OK &&
		commitlog.CheckCleanMarker(marker, file, found.meta.DirectoryID) == nil
	_, errno = commitlog.ReadFile(disk, env.Path{Dir: dir, Name: commitlog.DamageName})
	return former, errno != env.ENOENT
}

func removeMarkers(disk env.Disk, dir env.DirID) error {
	for _, name := range []string{commitlog.CleanMarkerName, commitlog.KafkaCleanName} {
		p := env.Path{Dir: dir, Name: name}
		switch errno := disk.Remove(p); errno {
		case env.ENOENT:
		case env.OK:
			if errno = disk.SyncDir(p.Parent()); errno != env.OK {
				return fmt.Errorf("sync the removal of %s: %w", name, errno)
			}
		default:
			return fmt.Errorf("remove %s: %w", name, errno)
		}
	}
	return nil
}

// syncSurvived says whether all that the last process may not have synced is durable now. All
// replicas are tried: each that fails gets its mark.
func (found *foundDirectory) syncSurvived(disk env.Disk, dir env.DirID) bool {
	good := true
	for i := range found.replicas {
		r := &found.replicas[i]
		path := env.Path{Dir: dir, Name: r.name.String()}
		good = commitlog.SyncSurvived(disk, path, r.start.recoveryPoint) == nil && good
	}
	return good
}

// noteLife says durably which process has opened a data directory.
func noteLife(disk env.Disk, dir env.DirID, life *commitlog.Life) error {
	if err := makeStetDirectory(disk, dir); err != nil {
		return err
	}
	return replaceDurably(disk, env.Path{Dir: dir, Name: commitlog.LifeName},
		commitlog.AppendLife(nil, life))
}

// previousEpoch is the epoch under which this broker is registered, if this process continues that
// life in every directory that was registered with it, and -1 otherwise (KIP-966).
func (b *Broker) previousEpoch() kafka.BrokerEpoch {
	self := b.image.Broker(b.config.NodeID)
	if self == nil || len(self.Directories) == 0 {
		return -1
	}
	for _, id := range self.Directories {
		if !b.continues(id, self.Incarnation) {
			return -1
		}
	}
	return self.Epoch
}

func (b *Broker) continues(id metadata.DirectoryID, life metadata.IncarnationID) bool {
	for i := range b.directories {
		if d := &b.directories[i]; d.meta.DirectoryID == id.String() {
			return d.life.Continues(life)
		}
	}
	return false
}

// noteDamage notes for the next start that a write or a sync of a log has failed. A process that is
// killed between the failure and the note is taken for one that saw none (docs/FAULTS.md).
func (b *Broker) noteDamage(dir env.DirID) {
	if d := &b.directories[dir]; !d.damaged {
		d.damaged = true
		d.noting++
		b.startJob(&commitlog.NoteDamageJob{Dir: dir}, noting{dir})
	}
}

// noting is told that a note was made, or not: there is nothing else to try.
type noting struct{ dir env.DirID }

func (n noting) completed(b *Broker, _ *env.Event) { b.directories[n.dir].noting-- }

// cutChains notes, once the registration of this life is in the metadata, that nothing before it
// matters any more.
func (b *Broker) cutChains() {
	for i := range b.directories {
		d := &b.directories[i]
		if len(d.life.Before) == 0 {
			continue
		}
		d.life.Before = nil
		d.noting++
		b.startJob(&noteLifeJob{dir: env.DirID(i), life: d.life}, cutting{env.DirID(i)})
	}
}

// noteLifeJob writes the file of a life. The result is an error or nil.
type noteLifeJob struct {
	dir  env.DirID
	life commitlog.Life
}

// Name names the job for traces.
func (*noteLifeJob) Name() string { return "note-life" }

// Run writes the file.
func (j *noteLifeJob) Run(disk env.Disk) any {
	if err := noteLife(disk, j.dir, &j.life); err != nil {
		return err
	}
	return nil
}

// cutting takes the result of a noteLifeJob. If it failed, the longer chain stands, which is as true.
type cutting struct{ dir env.DirID }

func (c cutting) completed(b *Broker, _ *env.Event) {
	d := &b.directories[c.dir]
	d.noting--
	if d.damaged { // the note may have been to take away the file that was just written
		d.damaged = false
		b.noteDamage(c.dir)
	}
}
