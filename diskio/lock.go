package diskio

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockName is the file that Kafka locks as well; it stays empty.
const lockName = ".lock"

// ErrLocked says that another process uses the data directory.
var ErrLocked = errors.New("in use by another process")

// lockDir takes the lock of a data directory. The kernel frees it when the process ends, however
// it ends. The file stays: to remove it would let two processes lock two files of one name.
func lockDir(root string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(root, lockName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	_, err = retry(func() (int, error) {
		return 0, unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	})
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}
