package env

// OpenFlag says how to open a file.
type OpenFlag uint8

const (
	OpenRead   OpenFlag = iota // must exist; reading only
	OpenWrite                  // must exist; reading and writing
	OpenCreate                 // must not exist; reading and writing
	OpenOrNew                  // created if missing; reading and writing
)

// DirEntry is an entry of a directory.
type DirEntry struct {
	Name string
	Dir  bool
	Size int64 // of a file, bytes
}

// Disk is what a world offers to jobs and to file queues. Calls block: in production a goroutine,
// in simulation a coroutine that the scheduler may never resume (a crash). All bytes are the
// caller's again when a call returns.
type Disk interface {
	Open(p Path, flag OpenFlag) (File, Errno)
	Rename(from, to Path) Errno      // both in one data directory; replaces to
	Remove(p Path) Errno             // a file or an empty directory
	Mkdir(p Path) Errno              // EEXIST if it exists
	List(p Path) ([]DirEntry, Errno) // sorted by name
	SyncDir(p Path) Errno
}

// File is an open file.
type File interface {
	// WriteAt stores the concatenation of bufs at off and returns how many bytes are stored.
	// n < total with OK is possible and means a short write.
	WriteAt(bufs [][]byte, off int64) (n int64, err Errno)
	// ReadAt fills p from off; n < len(p) with OK is the end of the file.
	ReadAt(p []byte, off int64) (n int, err Errno)
	Sync() Errno
	Truncate(size int64) Errno
	Size() (int64, Errno)
	Close() Errno
}

// Job is long work: a straight-line function of immutable input. It does no I/O in defers, does
// not recover, and keeps nothing after Run. A job of a dead incarnation never returns.
type Job interface {
	// Name names the kind, for traces.
	Name() string
	Run(disk Disk) (result any)
}
