package node

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
)

// shelf is a number of existing files under one bound.
type shelf struct {
	*stage
	loop   *Loop
	queues []*FileQueue
}

func newShelf(limit, files int) *shelf {
	s := &shelf{stage: newStage()}
	s.loop = NewLoop(BrokerLoop, &scriptCore{}, s.stage, nil)
	s.loop.openFiles = NewOpenFiles(limit)
	for i := range files {
		q := newFileQueue(s.loop, env.FileID(i+1))
		s.queues = append(s.queues, q)
		s.push(i, env.FileOp{Op: env.FileOpen, Path: strconv.Itoa(i)})
	}
	s.drain()
	return s
}

func (s *shelf) push(i int, op env.FileOp) {
	op.File = s.queues[i].id
	s.queues[i].push(s, &op, []byte("data"))
}

func (s *shelf) perform(i int, op env.FileOp) {
	s.push(i, op)
	s.drain()
}

// read does what a sender of a range does.
func (s *shelf) read(t require.TestingT, i int) {
	q := s.queues[i]
	q.retain()
	require.Equal(t, env.OK, q.open(env.OpenWrite))
	require.NotNil(t, q.file)
	q.release()
}

// isOpen looks at the disk's side of a file.
func (s *shelf) isOpen(i int) bool {
	f := s.disk.files[strconv.Itoa(i)]
	return f != nil && f.opened > f.closed
}

func TestFilesThatRestAreClosedBeyondTheLimit(t *testing.T) {
	s := newShelf(3, 10)
	for range 3 {
		for i := range s.queues {
			s.read(t, i)
			require.LessOrEqual(t, s.loop.openFiles.Count(), 3)
			require.True(t, s.isOpen(i))
		}
	}
	require.Equal(t, 3, s.disk.files["0"].opened, "it is opened again")
	require.Equal(t, 3, s.loop.openFiles.Count())
}

func TestAFileWithUnsyncedWritesStaysOpen(t *testing.T) {
	s := newShelf(1, 5)
	s.perform(0, env.FileOp{Op: env.FileWrite, N: 4})
	for range 2 {
		for i := range s.queues {
			s.read(t, i)
		}
	}
	require.True(t, s.isOpen(0))
	s.perform(0, env.FileOp{Op: env.FileSync})
	for range 2 {
		for i := 1; i < len(s.queues); i++ {
			s.read(t, i)
		}
	}
	require.False(t, s.isOpen(0))
	s.perform(0, env.FileOp{Op: env.FileWrite, N: 4})
	require.Equal(t, 2, s.disk.files["0"].opened, "it is opened again")
}

func TestALeaseKeepsAFileOpenBeyondTheLimit(t *testing.T) {
	for _, op := range []env.FileOpKind{0, env.FileClose, env.FileRemove} {
		s := newShelf(1, 5)
		s.queues[0].retain()
		require.Equal(t, env.OK, s.queues[0].open(env.OpenWrite))
		if op != 0 {
			s.perform(0, env.FileOp{Op: op})
		}
		for range 2 {
			for i := 1; i < len(s.queues); i++ {
				s.read(t, i)
			}
		}
		require.True(t, s.isOpen(0))
		s.queues[0].release()
		require.Equal(t, op == 0, s.isOpen(0))
	}
}

// TestOpenFilesKeepsCount draws uses of files and judges that those in use are open, and that the
// count is that of the disk.
func TestOpenFilesKeepsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		s := newShelf(limit, 9) // the last is for the end
		var leases [8]int
		var dirty, closed [8]bool
		pinned := func() (n int) {
			for i := range leases {
				if leases[i] > 0 || dirty[i] {
					n++
				}
			}
			return n
		}
		file := rapid.IntRange(0, 7)
		t.Repeat(map[string]func(*rapid.T){
			"lease": func(t *rapid.T) {
				if i := file.Draw(t, "file"); !closed[i] {
					s.queues[i].retain()
					require.Equal(t, env.OK, s.queues[i].open(env.OpenWrite))
					leases[i]++
				}
			},
			"return": func(t *rapid.T) {
				if i := file.Draw(t, "file"); leases[i] > 0 {
					s.queues[i].release()
					leases[i]--
				}
			},
			"write": func(t *rapid.T) {
				if i := file.Draw(t, "file"); !closed[i] {
					s.perform(i, env.FileOp{Op: env.FileWrite, N: 4})
					dirty[i] = true
				}
			},
			"sync": func(t *rapid.T) {
				if i := file.Draw(t, "file"); !closed[i] {
					s.perform(i, env.FileOp{Op: env.FileSync})
					dirty[i] = false
				}
			},
			"close": func(t *rapid.T) {
				i := file.Draw(t, "file")
				if !closed[i] && rapid.IntRange(0, 9).Draw(t, "seldom") == 0 {
					s.perform(i, env.FileOp{Op: env.FileClose})
					closed[i], dirty[i] = true, false
				}
			},
			"": func(t *rapid.T) {
				open := 0
				for i := range leases {
					if s.isOpen(i) {
						open++
					}
					require.True(t, s.isOpen(i) || leases[i] == 0 && !dirty[i], "file %d", i)
					require.False(t, s.isOpen(i) && closed[i] && leases[i] == 0, "file %d", i)
				}
				require.Equal(t, open, s.loop.openFiles.Count())
			},
		})
		if pinned() < limit {
			s.read(t, 8)
			require.LessOrEqual(t, s.loop.openFiles.Count(), limit)
		}
	})
}
