package diskio

import (
	"errors"

	"golang.org/x/sys/unix"

	"stet/core/env"
)

// errno turns an error into the closed set of the core and reports what is unusual.
func (d *Disk) errno(op, path string, err error) env.Errno {
	if err == nil {
		return env.OK
	}
	e := toErrno(err)
	if e != env.ENOENT && e != env.EEXIST && d.OnError != nil {
		d.OnError(op, path, err)
	}
	return e
}

func toErrno(err error) env.Errno {
	var number unix.Errno
	if !errors.As(err, &number) {
		return env.EOther
	}
	switch number {
	case unix.EIO:
		return env.EIO
	case unix.ENOSPC, unix.EDQUOT, unix.EFBIG:
		return env.ENOSPC
	case unix.ENOENT:
		return env.ENOENT
	case unix.EEXIST, unix.ENOTEMPTY:
		return env.EEXIST
	}
	return env.EOther
}

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
