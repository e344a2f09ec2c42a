package node

import (
	"slices"
	"sync"

	"stet/core/env"
	"stet/core/invariant"
)

// OpenFiles bounds how many files a node keeps open, whatever the number of its segments. Beyond
// the limit it closes files that have rested longest, by second chance; they are opened again at
// their next use. A file that is being used, or that holds writes which no sync has covered, stays
// open: the descriptor is what a later sync hears of a failed writeback by. So the limit may be
// exceeded, by as many files as these.
type OpenFiles struct {
	limit int

	mu   sync.Mutex
	open []*FileQueue
	hand int // where the search for one to close goes on
}

// lookedAt bounds the search at each opening. It is more than one, so that the count comes down.
const lookedAt = 64

// NewOpenFiles returns a bound of limit files; 0 or less is none.
func NewOpenFiles(limit int) *OpenFiles { return &OpenFiles{limit: limit} }

// Count returns how many files are open.
func (o *OpenFiles) Count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.open)
}

// add enters a file that was opened, and closes others for it.
func (o *OpenFiles) add(q *FileQueue) {
	var room [4]env.File
	rested := room[:0]
	o.mu.Lock()
	o.open = append(o.open, q)
	for range lookedAt {
		if o.limit <= 0 || len(o.open) <= o.limit {
			break
		}
		if o.hand >= len(o.open) {
			o.hand = 0
		}
		if f := o.open[o.hand].rest(); f != nil {
			o.open = slices.Delete(o.open, o.hand, o.hand+1)
			rested = append(rested, f)
			invariant.Sometimes(true, invariant.MarkFileRested)
		} else {
			o.hand++
		}
	}
	o.mu.Unlock()
	for _, f := range rested {
		f.Close()
	}
}

// remove forgets a file that was closed for good.
func (o *OpenFiles) remove(q *FileQueue) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(o.open, q); i >= 0 {
		o.open = slices.Delete(o.open, i, i+1)
	}
}
