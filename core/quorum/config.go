package quorum

import "stet/core/env"

// Config is immutable.
type Config struct {
	Dir env.DirID // the data directory that holds the raft directory

	// A snapshot is due when the log since the last one has this many entries or bytes.
	SnapshotEntries int
	SnapshotBytes   int64

	// MaxUncommittedBytes bounds what is proposed and not yet committed; beyond it proposals are
	// refused.
	MaxUncommittedBytes uint64

	// A voter that has heard no leader for one to two times ElectionTicks campaigns; a leader that
	// has heard no majority for ElectionTicks steps down. It says that it is there every
	// HeartbeatTicks.
	ElectionTicks, HeartbeatTicks int
}

// DefaultConfig suits a server.
func DefaultConfig() Config {
	return Config{
		SnapshotEntries: 20_000, SnapshotBytes: 16 << 20, MaxUncommittedBytes: 64 << 20,
		ElectionTicks: 7, HeartbeatTicks: 2,
	}
}

// Directory is where the files lie, below the data directory.
const Directory = "stet/raft"
