package broker

import (
	"fmt"

	"stet/core/commitlog"
	"stet/core/env"
)

// format marks a new directory as this cluster's.
func (b *Broker) format(dir env.DirID) {
	d := &b.directories[dir]
	d.formatting = true
	meta := d.meta
	meta.ClusterID = b.image.ClusterID()
	b.startJob(&formatJob{dir: dir, meta: meta}, formatting{dir, meta})
}

// formatJob writes meta.properties and makes our own directory.
type formatJob struct {
	dir  env.DirID
	meta commitlog.MetaProperties
}

// formatting takes the result of a formatJob.
type formatting struct {
	dir  env.DirID
	meta commitlog.MetaProperties
}

// Name names the job for traces.
func (*formatJob) Name() string { return "format-directory" }

// Run writes the file. The result is an error or nil.
func (j *formatJob) Run(disk env.Disk) any {
	if err := makeStetDirectory(disk, j.dir); err != nil {
		return err
	}
	path := env.Path{Dir: j.dir, Name: commitlog.MetaPropertiesName}
	if err := replaceDurably(disk, path, commitlog.AppendMetaProperties(nil, j.meta)); err != nil {
		return err
	}
	return nil
}

// makeStetDirectory makes our own directory, durably; it may exist.
func makeStetDirectory(disk env.Disk, dir env.DirID) error {
	errno := disk.Mkdir(env.Path{Dir: dir, Name: stetDirectory})
	if errno != env.OK && errno != env.EEXIST {
		return fmt.Errorf("make directory %s: %w", stetDirectory, errno)
	}
	return commitlog.SyncDirectory(disk, env.Path{Dir: dir})
}

// replaceDurably gives a file this content, which stands when it returns.
func replaceDurably(disk env.Disk, path env.Path, content []byte) error {
	if err := commitlog.ReplaceFile(disk, path, content); err != nil {
		return err
	}
	return commitlog.SyncDirectory(disk, path.Parent())
}

func (f formatting) completed(b *Broker, ev *env.Event) {
	d := &b.directories[f.dir]
	d.formatting = false
	if err, _ := ev.Res.(error); err != nil {
		b.fail("format data directory %s: %w", b.config.Directories[f.dir], err)
		return
	}
	d.meta = f.meta
	b.host.fill(b)
}
