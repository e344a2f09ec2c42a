package node

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
)

// fileStage is a file queue under a loop that only listens.
type fileStage struct {
	*stage
	core  *scriptCore
	loop  *Loop
	queue *FileQueue
}

const testFile = env.FileID(1)

func newFileStage() *fileStage {
	s := &fileStage{stage: newStage(), core: &scriptCore{}}
	s.loop = NewLoop(BrokerLoop, s.core, s.stage, nil)
	s.queue = newFileQueue(s.loop, testFile)
	s.push(env.FileOp{Op: env.FileCreate, Path: "log", Token: 1})
	s.drain()
	s.core.told, s.disk.calls = nil, nil
	return s
}

func (s *fileStage) push(op env.FileOp) {
	op.File = testFile
	s.queue.push(s, &op, nil)
}

func (s *fileStage) write(off int64, text string, t env.Token) *countedBuffer {
	b := &countedBuffer{data: []byte(text), refs: 1}
	s.push(env.FileOp{
		Op: env.FileWrite, Off: off, N: int64(len(text)),
		Buf: env.BufRef{Owner: b, Data: b.data}, Token: t,
	})
	return b
}

func done(op env.FileOpKind, t env.Token, n int64, err env.Errno) env.Event {
	return env.Event{
		Kind: env.EventFileDone, FileOp: op, File: testFile, Token: t, N: n, Err: err,
	}
}

func TestAdjacentWritesBecomeOne(t *testing.T) {
	s := newFileStage()
	bufs := []*countedBuffer{
		s.write(0, "one", 1), s.write(3, "two", 2), s.write(6, "three", 3), s.write(20, "gap", 4),
	}
	s.drain()
	require.Equal(t, []string{"write 0+11 of 3", "write 20+3 of 1"}, s.disk.calls)
	require.Equal(t, []env.Event{
		done(env.FileWrite, 1, 3, env.OK), done(env.FileWrite, 2, 3, env.OK),
		done(env.FileWrite, 3, 5, env.OK), done(env.FileWrite, 4, 3, env.OK),
	}, s.core.told)
	for _, b := range bufs {
		require.Equal(t, 1, b.refs, "only the test's own reference is left")
	}
}

func TestASyncIsNotOvertakenByWrites(t *testing.T) {
	s := newFileStage()
	s.write(0, "one", 1)
	s.push(env.FileOp{Op: env.FileSync, Token: 2})
	s.write(3, "two", 3)
	s.drain()
	require.Equal(t, []string{"write 0+3 of 1", "sync", "write 3+3 of 1"}, s.disk.calls)
}

func TestOneWriteIsBoundedInPiecesAndBytes(t *testing.T) {
	s := newFileStage()
	for i := range int64(maxCoalescedOps + 1) {
		s.write(i, "x", 1)
	}
	s.drain()
	require.Equal(t, []string{"write 0+64 of 64", "write 64+1 of 1"}, s.disk.calls)

	s = newFileStage()
	big := string(make([]byte, maxCoalescedBytes))
	s.write(0, big, 1)
	s.write(maxCoalescedBytes, "x", 2)
	s.drain()
	require.Len(t, s.disk.calls, 2)
}

func TestAShortWriteFailsFromTheFirstThatIsNotWhole(t *testing.T) {
	s := newFileStage()
	s.disk.script = []fate{{short: 4}}
	bufs := []*countedBuffer{s.write(0, "one", 1), s.write(3, "two", 2), s.write(6, "six", 3)}
	s.drain()
	require.Equal(t, []env.Event{
		done(env.FileWrite, 1, 3, env.OK), done(env.FileWrite, 2, 2, env.EShort),
		done(env.FileWrite, 3, 0, env.EFenced),
	}, s.core.told)
	for _, b := range bufs {
		require.Equal(t, 1, b.refs)
	}
}

func TestAFailedSyncFencesEverythingButClose(t *testing.T) {
	s := newFileStage()
	s.disk.script = []fate{{err: env.EIO}}
	s.push(env.FileOp{Op: env.FileSync, Token: 1})
	s.write(0, "one", 2)
	s.push(env.FileOp{Op: env.FileSync})
	s.push(env.FileOp{Op: env.FileTruncate, Token: 3})
	s.push(env.FileOp{Op: env.FileClose, Token: 4})
	s.drain()
	require.Equal(t, []string{"sync"}, s.disk.calls)
	require.Equal(t, []env.Event{
		done(env.FileSync, 1, 0, env.EIO), done(env.FileWrite, 2, 0, env.EFenced),
		done(env.FileSync, 0, 0, env.EFenced), // a failure is reported without a token, too
		done(env.FileTruncate, 3, 0, env.EFenced), done(env.FileClose, 4, 0, env.OK),
	}, s.core.told)
	require.Equal(t, 1, s.disk.files["log"].closed)
}

func TestALeaseKeepsAClosedFileOpen(t *testing.T) {
	s := newFileStage()
	s.queue.retain()
	s.push(env.FileOp{Op: env.FileClose, Token: 1})
	s.drain()
	require.Equal(t, 0, s.disk.files["log"].closed)
	s.queue.release()
	require.Equal(t, 1, s.disk.files["log"].closed)
}

func TestALeaseKeepsARemovedFileReadable(t *testing.T) {
	s := newFileStage()
	q := newFileQueue(s.loop, testFile) // as after a restart: not opened yet
	open, remove := env.FileOp{Op: env.FileOpen, Path: "log"}, env.FileOp{Op: env.FileRemove}
	q.push(s, &open, nil)
	q.retain()
	q.push(s, &remove, nil)
	s.drain()
	require.Equal(t, []string{"open log 1", "remove log"}, s.disk.calls)
	q.release()
	require.Equal(t, 1, s.disk.files["log"].closed)
}

// TestFileQueueKeepsTheLawOfEffects pushes and steps in any order, over a disk that fails at will.
func TestFileQueueKeepsTheLawOfEffects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newFileStage()
		var pushed []env.FileOp
		var bufs []*countedBuffer
		var leases int
		var end int64
		content, closed := []byte(nil), false
		push := func(op env.FileOp) {
			if !closed {
				op.Token = env.Token(len(pushed) + 1)
				pushed = append(pushed, op)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				if closed {
					return
				}
				off := end + rapid.SampledFrom([]int64{0, 0, 0, 5}).Draw(t, "gap")
				text := bytes.Repeat([]byte{byte('a' + len(pushed)%26)}, rapid.IntRange(1, 9).Draw(t, "n"))
				end = off + int64(len(text))
				push(env.FileOp{Op: env.FileWrite, N: int64(len(text))})
				bufs = append(bufs, s.write(off, string(text), env.Token(len(pushed))))
				content = append(content, make([]byte, int(off)-len(content))...)
				content = append(content, text...)
			},
			"sync": func(*rapid.T) {
				if push(env.FileOp{Op: env.FileSync}); !closed {
					s.push(pushed[len(pushed)-1])
				}
			},
			"close": func(t *rapid.T) {
				if closed || rapid.IntRange(0, 9).Draw(t, "seldom") > 0 {
					return
				}
				push(env.FileOp{Op: env.FileClose})
				s.push(pushed[len(pushed)-1])
				closed = true
			},
			"fail": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") == 0 {
					s.disk.script = append(s.disk.script, rapid.SampledFrom([]fate{
						{}, {err: env.EIO}, {short: 3}, {err: env.ENOSPC, short: 2},
					}).Draw(t, "fate"))
				}
			},
			"lease": func(*rapid.T) {
				if !closed {
					s.queue.retain()
					leases++
				}
			},
			"return": func(*rapid.T) {
				if leases > 0 {
					s.queue.release()
					leases--
				}
			},
			"step": func(t *rapid.T) {
				if n := s.steps(); n > 0 {
					s.step(rapid.IntRange(0, n-1).Draw(t, "i"))
				}
			},
		})
		s.drain()
		require.Len(t, s.core.told, len(pushed))
		failed := false
		for i, ev := range s.core.told {
			require.Equal(t, env.Token(i+1), ev.Token, "completions come in order")
			require.Equal(t, pushed[i].Op, ev.FileOp)
			if failed && ev.FileOp != env.FileClose {
				require.Equal(t, env.EFenced, ev.Err)
			}
			failed = failed || ev.Err != env.OK
		}
		for _, b := range bufs {
			require.Equal(t, 1, b.refs)
		}
		file := s.disk.files["log"]
		if !failed {
			require.True(t, bytes.Equal(content, file.data))
		}
		require.Equal(t, closed && leases == 0, file.closed == 1)
	})
}

// TestNoRangeIsSentAfterAFailedSync: the kernel counts the pages as clean that it could not write.
func TestNoRangeIsSentAfterAFailedSync(t *testing.T) {
	s := newFileStage()
	s.queue.retain()
	s.write(0, "one", 1)
	s.drain()
	require.Equal(t, env.OK, s.queue.openToSend())
	s.disk.script = []fate{{err: env.EIO}}
	s.push(env.FileOp{Op: env.FileSync, Token: 2})
	s.drain()
	require.Equal(t, env.EFenced, s.queue.openToSend())
}
