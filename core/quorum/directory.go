package quorum

import (
	"fmt"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
)

// A directory is known by meta.properties at its root, which a broker of the same process uses too.
// It belongs to a node, and has an id of its own, which the raft id follows from.

const metaProperties = commitlog.MetaPropertiesName

// identify reads whose the directory is, and refuses one of another node before anything is touched.
func (r *recovery) identify() bool {
	b, err := commitlog.ReadFile(r.disk, env.Path{Dir: r.dir, Name: metaProperties})
	if err == env.ENOENT {
		r.meta = commitlog.MetaProperties{NodeID: r.job.NodeID}
		return true
	}
	if r.failed(err) {
		return false
	}
	meta, problem := commitlog.DecodeMetaProperties(b)
	switch {
	case problem != nil:
		r.refuse("%s: %v", metaProperties, problem)
	case meta.NodeID != r.job.NodeID:
		r.refuse("belongs to node %d, this is node %d", meta.NodeID, r.job.NodeID)
	default:
		r.meta = meta
		if meta.DirectoryID == "" {
			return true
		}
		id, problem := kafka.ParseTopicID(meta.DirectoryID) // the same form
		if problem == nil {
			r.directory = id
			return true
		}
		r.refuse("%s: directory.id %q: want 22 characters of base64url", metaProperties, meta.DirectoryID)
	}
	return false
}

// own checks that what was found in the raft directory is this directory's.
func (r *recovery) own() {
	f := &r.found
	f.DirectoryID, f.ClusterID = r.directory, r.meta.ClusterID
	switch voter := VoterOf(r.directory); {
	case f.Failure() != nil:
	case f.Voter == 0:
		r.name()
	case r.meta.DirectoryID == "":
		r.refuse("%s does not say which directory this is, and there is a raft log", metaProperties)
	case f.Voter != voter:
		r.refuse("the raft log is of another directory: of voter %d, and directory %s is voter %d",
			f.Voter, r.meta.DirectoryID, voter)
	}
}

// name makes a directory without a log this node's, durably, with an id if it has none.
func (r *recovery) name() {
	f := &r.found
	if r.meta.DirectoryID == "" {
		r.meta.DirectoryID = kafka.TopicID(r.job.NewDirectory).String()
		f.DirectoryID = r.job.NewDirectory
		path := env.Path{Dir: r.dir, Name: metaProperties}
		err := commitlog.ReplaceFile(r.disk, path, commitlog.AppendMetaProperties(nil, r.meta))
		if err == nil {
			err = commitlog.SyncDirectory(r.disk, path.Parent())
		}
		if err != nil {
			r.found = Recovered{Err: fmt.Errorf("mark the data directory: %w", err)}
			return
		}
	}
	f.Voter = VoterOf(f.DirectoryID)
}
