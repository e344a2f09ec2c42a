package quorum

import (
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/raft/v3/raftpb"

	"stet/core/env"
)

// TestHardStateStandsBehindWhatItCommitsAndBeforeTheRest: cut anywhere, a log has no commit index
// beyond its end, and no entry without what was known to be committed when it came.
func TestHardStateStandsBehindWhatItCommitsAndBeforeTheRest(t *testing.T) {
	s := newStorage(&Recovered{Hard: HardState{Term: 1, Commit: 1}, Start: Position{1, 1}})
	w, out := writer{}, env.Effects{}
	w.begin(7, s, &out)
	var entries []*pb.Entry
	for i := uint64(2); i <= 5; i++ {
		e := Entry{Index: i, Term: 2, Data: []byte{byte(i)}}
		entries = append(entries, e.proto())
	}
	base := len(out.Bytes)
	w.append(entries, &HardState{Term: 2, Commit: 3}, &out)
	for end := base; end <= len(out.Bytes); end++ {
		l := parseLog(out.Bytes[:end], 1, 0)
		require.Empty(t, l.problem)
		last := 1 + uint64(len(l.entries))
		require.LessOrEqual(t, l.hard.Commit, last)
		if last > 3 {
			require.Equal(t, HardState{Term: 2, Commit: 3}, l.hard)
		}
	}
	whole := parseLog(out.Bytes, 1, 0)
	require.Len(t, whole.entries, 4)
	require.Zero(t, whole.torn)
}

// TestWhatIsReplacedIsNotDurable also for those who wait for a sync.
func TestWhatIsReplacedIsNotDurable(t *testing.T) {
	s := newStorage(&Recovered{Start: Position{1, 1}})
	w, out := writer{}, env.Effects{}
	w.begin(7, s, &out)
	put := func(term uint64, indices ...uint64) {
		var entries []*pb.Entry
		for _, i := range indices {
			e := Entry{Index: i, Term: term}
			entries = append(entries, e.proto())
		}
		s.append(entries)
		w.append(entries, nil, &out)
		w.await(nil, s)
	}
	put(1, 2, 3, 4)
	tokens := env.Token(0)
	sync := func() { w.sync(func() env.Token { tokens++; return tokens }, &out) }
	sync()
	w.onSynced()
	require.Equal(t, Position{4, 1}, w.durable)
	put(1, 5)
	sync() // covers entry 5, which is replaced meanwhile
	w.truncate(Position{2, 1})
	put(2, 3)
	require.Equal(t, Position{2, 1}, w.durable)
	w.onSynced()
	require.Equal(t, Position{2, 1}, w.durable)
	sync()
	w.onSynced()
	require.Equal(t, Position{3, 2}, w.durable)
	require.Equal(t, []Entry{{Index: 2, Term: 1}, {Index: 3, Term: 2}}, stripped(parseLog(out.Bytes, 1, 0)))
}

func stripped(l *logFile) (entries []Entry) {
	for _, e := range l.entries {
		entries = append(entries, Entry{Index: e.Index, Term: e.Term})
	}
	return entries
}
