package node

import "stet/core/env"

// slot is the place of a response in the order of its connection.
type slot struct {
	answer
	filled    bool
	left      bool // the answer was taken out to be sent
	exclusive bool
	bytes     int64 // of the request
	token     env.Token
}

// answer is what goes into a slot. Its memory is used again for later ones.
type answer struct {
	head   []byte
	ranges []leasedRange
}

// What a connection keeps of answers, so that an idle one keeps little: their number, the bytes
// and ranges that there may be room for in each, and the bytes that ranges were copied to.
const (
	keptAnswers    = 8
	keptHeadBytes  = 1 << 10
	keptRangeCount = 16
	keptCopyBytes  = 1 << 20
)

// leasedRange is a range together with the reference of its file.
type leasedRange struct {
	env.Range
	file *FileQueue
}

// lease resolves ranges to files and takes a reference of each, until release.
func (a *answer) lease(files map[env.FileID]*FileQueue, ranges []env.Range) {
	for _, r := range ranges {
		q := files[r.File]
		if q != nil {
			q.retain()
		}
		a.ranges = append(a.ranges, leasedRange{Range: r, file: q})
	}
}

func (a *answer) release() {
	for i := range a.ranges {
		if q := a.ranges[i].file; q != nil {
			q.release()
		}
	}
}

func (a *answer) rangeBytes() (n int64) {
	for i := range a.ranges {
		n += a.ranges[i].Len
	}
	return n
}

// reusable empties a released answer and says whether it is worth keeping.
func (a *answer) reusable() bool {
	clear(a.ranges)
	a.head, a.ranges = a.head[:0], a.ranges[:0]
	return cap(a.head) <= keptHeadBytes && cap(a.ranges) <= keptRangeCount
}
