package quorum

import "stet/core/env"

// readFile reads a whole file.
func readFile(disk env.Disk, p env.Path) ([]byte, env.Errno) {
	f, err := disk.Open(p, env.OpenRead)
	if err != env.OK {
		return nil, err
	}
	size, err := f.Size()
	b := make([]byte, size)
	n := 0
	if err == env.OK {
		n, err = f.ReadAt(b, 0)
	}
	f.Close()
	return b[:n], err
}

// writeFile writes a file durably, from scratch. The caller syncs the directory.
func writeFile(disk env.Disk, p env.Path, content []byte) env.Errno {
	f, err := disk.Open(p, env.OpenOrNew)
	if err != env.OK {
		return err
	}
	err = fill(f, content)
	f.Close()
	return err
}

func fill(f env.File, content []byte) env.Errno {
	if err := f.Truncate(0); err != env.OK {
		return err
	}
	n, err := f.WriteAt([][]byte{content}, 0)
	if err != env.OK {
		return err
	}
	if n < int64(len(content)) {
		return env.EShort
	}
	return f.Sync()
}
