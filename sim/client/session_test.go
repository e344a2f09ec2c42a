package client

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func head(s *fetchSession) [2]int32 {
	id, epoch := s.head()
	return [2]int32{id, epoch}
}

func TestWithoutSessionsEveryFetchIsAFullOne(t *testing.T) {
	s := &fetchSession{}
	require.Equal(t, [2]int32{0, -1}, head(s))
	require.True(t, s.wants(0, 5, -1))
	require.True(t, s.wants(0, 5, -1))
	require.True(t, s.answered(0))
	require.False(t, s.answered(3), "nobody asked for a session")
	require.Equal(t, [2]int32{0, -1}, head(s))
}

func TestASessionNamesOnlyWhatChanged(t *testing.T) {
	s := &fetchSession{on: true}
	require.Equal(t, [2]int32{0, 0}, head(s))
	require.True(t, s.wants(0, 5, -1))
	require.True(t, s.wants(1, 0, -1))
	require.True(t, s.answered(9))
	require.Equal(t, [2]int32{9, 1}, head(s))
	require.False(t, s.wants(0, 5, -1))
	require.True(t, s.wants(1, 3, -1))
	require.False(t, s.wants(1, 3, -1))
	require.True(t, s.answered(9))
	require.False(t, s.answered(10), "of another session")
	require.Equal(t, [2]int32{9, 2}, head(s))

	s.reset()
	require.Equal(t, [2]int32{0, 0}, head(s))
	require.True(t, s.wants(0, 5, -1), "a full fetch names everything")
}

func TestASessionThatIsNotGrantedIsAskedForAgain(t *testing.T) {
	s := &fetchSession{on: true}
	head(s)
	require.True(t, s.wants(0, 5, -1))
	require.True(t, s.answered(0))
	require.Equal(t, [2]int32{0, 0}, head(s))
	require.True(t, s.wants(0, 5, -1))
}

func TestTheEpochOfASessionWrapsToOne(t *testing.T) {
	s := &fetchSession{on: true, id: 4, epoch: math.MaxInt32}
	require.True(t, s.answered(4))
	require.Equal(t, [2]int32{4, 1}, head(s), "0 would begin a new session")
}
