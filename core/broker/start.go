package broker

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
)

// directory is what the broker knows of one data directory.
type directory struct {
	meta       commitlog.MetaProperties // ClusterID "" until the directory is marked
	clean      bool                     // stopped cleanly by the process before this one
	life       commitlog.Life           // of this process, with those that it continues
	damaged    bool                     // a write or a sync of a log has failed in this life
	formatting bool
	noting     int // jobs under way that note something of the life
}

// stetDirectory holds what is not Kafka's.
const stetDirectory = "stet"

// begin starts the job that reads the data directories. Identities for those that turn out to be
// new are drawn before, so that the job is a function of its input.
func (b *Broker) begin() {
	b.phase = phaseReading
	job := &startJob{
		nodeID: b.config.NodeID, identity: b.identity, names: b.config.Directories,
	}
	for range b.config.Directories {
		job.newIDs = append(job.newIDs, base64.RawURLEncoding.EncodeToString(b.randomID()))
	}
	b.startJob(job, starting{})
}

// randomID draws 16 bytes.
func (b *Broker) randomID() []byte {
	id := make([]byte, 16)
	for i := range id {
		id[i] = byte(b.random.Uint32())
	}
	return id
}

// startJob reads what a process has to know before it writes anything, and begins its life in the
// data directories.
type startJob struct {
	nodeID   kafka.BrokerID
	identity env.Identity
	names    []string // of the data directories, as people know them
	newIDs   []string // directory ids for new directories, one for each directory
}

// Name names the job for traces.
func (*startJob) Name() string { return "start-broker" }

// started is the result of a startJob.
type started struct {
	directories []foundDirectory
	err         error
}

// foundDirectory is a data directory as it was found.
type foundDirectory struct {
	directory
	replicas []foundReplica
	leftover []string // directories of deletions that were interrupted
}

// foundReplica is a replica's directory as it was found.
type foundReplica struct {
	name    kafka.TopicPartition
	topicID kafka.TopicID // zero if it could not be read
	start   struct{ recoveryPoint, logStart, highWatermark kafka.Offset }
}

// Run reads all data directories.
func (j *startJob) Run(disk env.Disk) any {
	var result started
	for i := range j.newIDs {
		found, err := j.read(disk, env.DirID(i))
		if err != nil {
			return started{err: fmt.Errorf("data directory %s: %w", j.names[i], err)}
		}
		result.directories = append(result.directories, found)
	}
	return result
}

func (j *startJob) read(disk env.Disk, dir env.DirID) (foundDirectory, error) {
	var found foundDirectory
	entries, errno := disk.List(env.Path{Dir: dir})
	if errno != env.OK {
		return found, fmt.Errorf("list: %w", errno)
	}
	if err := j.readMeta(disk, dir, &found); err != nil {
		return found, err
	}
	for _, e := range entries {
		if !e.Dir {
			continue
		}
		if commitlog.IsDeletedName(e.Name) {
			found.leftover = append(found.leftover, e.Name)
		} else if name, ok := parseDirectoryName(e.Name); ok {
			found.replicas = append(found.replicas, foundReplica{
				name:    name,
				topicID: readTopicID(disk, env.Path{Dir: dir, Name: e.Name}),
			})
		}
	}
	if err := found.readCheckpoints(disk, dir); err != nil {
		return found, err
	}
	return found, found.takeStanding(disk, dir, j.identity)
}

func (j *startJob) readMeta(disk env.Disk, dir env.DirID, found *foundDirectory) error {
	b, errno := commitlog.ReadFile(disk, env.Path{Dir: dir, Name: commitlog.MetaPropertiesName})
	switch errno {
	case env.OK:
	case env.ENOENT:
		found.meta = commitlog.MetaProperties{NodeID: j.nodeID, DirectoryID: j.newIDs[dir]}
		return nil
	default:
		return fmt.Errorf("read %s: %w", commitlog.MetaPropertiesName, errno)
	}
	meta, err := commitlog.DecodeMetaProperties(b)
	if err != nil {
		return fmt.Errorf("%s: %w", commitlog.MetaPropertiesName, err)
	}
	if meta.NodeID != j.nodeID {
		return fmt.Errorf("belongs to node %d, this is node %d", meta.NodeID, j.nodeID)
	}
	if meta.DirectoryID == "" {
		meta.DirectoryID = j.newIDs[dir]
	}
	found.meta = meta
	return nil
}

// readCheckpoints fills in where recoveries may begin. A checkpoint that is missing or broken says
// nothing, and the logs are scanned from their start.
func (found *foundDirectory) readCheckpoints(disk env.Disk, dir env.DirID) error {
	for i, name := range []string{
		commitlog.RecoveryPointCheckpointName,
		commitlog.LogStartCheckpointName, commitlog.HighWatermarkCheckpointName,
	} {
		b, errno := commitlog.ReadFile(disk, env.Path{Dir: dir, Name: name})
		if errno == env.ENOENT {
			continue
		}
		if errno != env.OK {
			return fmt.Errorf("read %s: %w", name, errno)
		}
		entries, err := commitlog.DecodeCheckpoint(b)
		if err != nil {
			continue
		}
		offsets := make(map[kafka.TopicPartition]kafka.Offset, len(entries))
		for _, e := range entries {
			offsets[e.Partition] = e.Offset
		}
		for r := range found.replicas {
			replica := &found.replicas[r]
			start := &replica.start
			*[]*kafka.Offset{&start.recoveryPoint, &start.logStart, &start.highWatermark}[i] = offsets[replica.name]
		}
	}
	return nil
}

// readTopicID reads which topic a replica's directory belongs to; zero when it does not say.
func readTopicID(disk env.Disk, path env.Path) kafka.TopicID {
	path.Name += "/" + commitlog.PartitionMetadataName
	b, errno := commitlog.ReadFile(disk, path)
	if errno != env.OK {
		return kafka.TopicID{}
	}
	id, _ := commitlog.DecodePartitionMetadata(b)
	return id
}

// parseDirectoryName splits topic-partition at the last dash.
func parseDirectoryName(name string) (kafka.TopicPartition, bool) {
	dash := strings.LastIndexByte(name, '-')
	if dash < 0 {
		return kafka.TopicPartition{}, false
	}
	id, err := strconv.ParseInt(name[dash+1:], 10, 32)
	tp := kafka.TopicPartition{Topic: name[:dash], Partition: kafka.PartitionID(id)}
	return tp, err == nil && id >= 0 && kafka.ValidTopicName(tp.Topic) && tp.String() == name
}

// starting takes the result of a startJob.
type starting struct{}

func (starting) completed(b *Broker, ev *env.Event) {
	result := ev.Res.(started)
	if result.err != nil {
		b.fail("start: %w", result.err)
		return
	}
	if b.phase != phaseReading {
		return // stopped meanwhile
	}
	b.phase = phaseRunning
	for i := range result.directories {
		found := &result.directories[i]
		b.directories = append(b.directories, found.directory)
		b.host.adopt(b, env.DirID(i), found)
	}
	b.saving.begin(b)
	b.beginExpiry()
	b.isr.begin(b)
	b.link.dial(b)
}
