package system

import (
	"fmt"
	"log/slog"

	"golang.org/x/sys/unix"
)

// Shares of the limit on open files (RLIMIT_NOFILE). Segments and their indexes have half of it;
// connections have the rest but for what recovery, the logs and the runtime need, so that clients
// cannot take what the logs have to open.
const (
	reservedDescriptors = 64
	fewDescriptors      = 10_000 // fewer are worth a warning
	mostDescriptors     = 1 << 20
)

type descriptors struct{ limit, files, conns int }

// raiseDescriptors raises the soft limit on open files to the hard one and divides it.
func raiseDescriptors(log *slog.Logger) (descriptors, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return descriptors{}, fmt.Errorf("limit on open files: %w", err)
	}
	if limit.Cur < limit.Max {
		raised := unix.Rlimit{Cur: limit.Max, Max: limit.Max}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &raised); err == nil {
			limit = raised
		}
	}
	d := divide(int(min(limit.Cur, mostDescriptors)))
	if d.limit < fewDescriptors {
		log.Warn("the limit on open files is low: raise it (ulimit -n, LimitNOFILE)",
			"limit", d.limit, "wanted", fewDescriptors, "files", d.files, "connections", d.conns)
	}
	return d, nil
}

func divide(limit int) descriptors {
	files := max(limit/2, 1)
	return descriptors{limit, files, max(limit-files-reservedDescriptors, 1)}
}
