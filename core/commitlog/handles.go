package commitlog

import "stet/core/env"

// Handles makes the ids of one replica and counts the leases on its files. It outlives the Logs
// that use it: when a log is fenced and opened again, or its partition is deleted, leases on the
// old files are still returned, and ids are never made twice.
type Handles struct {
	dir    env.DirID
	owner  env.Owner
	files  uint32
	tokens uint64
	leases map[env.FileID]lease
}

type lease struct {
	count   int
	closing bool // emit FileClose when count falls to zero
}

// NewHandles returns the handles of the replica owner, in the data directory dir.
func NewHandles(dir env.DirID, owner env.Owner) *Handles {
	return &Handles{dir: dir, owner: owner, leases: map[env.FileID]lease{}}
}

// Dir returns the data directory.
func (h *Handles) Dir() env.DirID { return h.dir }

// Owner returns the replica's index in its loop.
func (h *Handles) Owner() env.Owner { return h.owner }

// NextToken makes a token that was not made before, for the replica's own effects too.
func (h *Handles) NextToken() env.Token {
	h.tokens++
	return env.MakeToken(h.owner, h.tokens)
}

// NextFile makes a file id that was not made before.
func (h *Handles) NextFile() env.FileID {
	h.files++
	return env.MakeFileID(h.dir, h.owner, h.files)
}

// Lease keeps a file open for one more reader, until Release. Take one for every range that goes
// into a response.
func (h *Handles) Lease(f env.FileID) {
	l := h.leases[f]
	l.count++
	h.leases[f] = l
}

// Release returns a lease. The last one of a file that was closed meanwhile emits its FileClose.
func (h *Handles) Release(f env.FileID, out *env.Effects) {
	l := h.leases[f]
	l.count--
	if l.count > 0 {
		h.leases[f] = l
		return
	}
	delete(h.leases, f)
	if l.closing {
		out.File = append(out.File, env.FileOp{Op: env.FileClose, File: f})
	}
}

// Leased returns the number of leases of all files that are not returned yet.
func (h *Handles) Leased() int { return len(h.leases) }

// close emits FileClose, or leaves that to the last Release.
func (h *Handles) close(f env.FileID, out *env.Effects) {
	if l, ok := h.leases[f]; ok {
		l.closing = true
		h.leases[f] = l
		return
	}
	out.File = append(out.File, env.FileOp{Op: env.FileClose, File: f})
}
